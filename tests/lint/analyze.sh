#!/bin/sh
# Fails where Clang's static analyser sees a path to a fault in a file of src.
# Usage: analyze.sh [source root [build directory, for generated files]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"
client=${CLIENT_CFLAGS:-}

# LINT_SKIP: files and folders that cannot be compiled here.
not_skipped()
{
  set --
  for skipped in ${LINT_SKIP:-}; do set -- "$@" -e "^$skipped"; done
  grep -v -e '^$' "$@" || :
}
clang=${CLANG:-clang}
command -v "$clang" >/dev/null || { echo 'clang is missing: install clang'; exit 1; }
lua=${LUAJIT_CFLAGS:-$(pkg-config --cflags luajit 2>/dev/null || true)}

# shellcheck disable=SC2086 # flags are words
complaints=$("$here/files.sh" '*.c' | grep '^src/' | not_skipped | xargs -r -n 4 -P 2 "$clang" \
  --analyze \
  -Xanalyzer -analyzer-output=text -std=gnu11 -D_GNU_SOURCE -Isrc ${2:+-I"$2/src"} $lua $client \
  '-DBN_REL_LIBDIR=""' '-DBN_REL_DATADIR=""' '-DPACKAGE_VERSION=""' '-DBN_CARRIER_NAME=""' \
  2>&1) || complaints="failed
$complaints"
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
