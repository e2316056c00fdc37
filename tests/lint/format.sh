#!/bin/sh
# Fails where clang-format would write a C file otherwise.  Usage: format.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"
format=${CLANG_FORMAT:-clang-format}
command -v "$format" >/dev/null || { echo 'clang-format is missing: install clang-format'; exit 1; }
[ -f .clang-format ] || cp "$here/../../.clang-format" .

"$here/files.sh" '*.[ch]' | xargs -r "$format" --dry-run -Werror
