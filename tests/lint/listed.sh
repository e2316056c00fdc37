#!/bin/sh
# Fails where a source, a test or a script of perf is not named in Makefile.am: it would be neither
# built nor packed.
# Usage: listed.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"

complaints=$("$here/files.sh" '*.[ch]' '*.lua' '*.list' '*.py' '*.sh' '*.tab' |
  grep -E '^(src|tests|perf)/' | grep -v '^tests/compat/golden/' |
  while read -r file; do
    # A program of one file is listed without its extension.
    grep -qE "(^|[ 	])${file%.c}(\.c)?( |	|\$)" Makefile.am || echo "$file: not in Makefile.am"
  done)
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
