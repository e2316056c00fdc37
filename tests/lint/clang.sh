#!/bin/sh
# Fails where Clang warns of a file of src, whatever compiler builds it: with the warnings of
# m4/bn_warnings.m4, or with what flags ask for.
# Usage: clang.sh [source root [build directory, for generated files, or '' [flags]]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"
client=${CLIENT_CFLAGS:-}
build=${2:+-I"$2/src"}
if [ $# -gt 2 ]; then
  shift 2
  flags=$*
else
  flags="-fsyntax-only -Werror $(grep -o -e '-W[a-z0-9=-]*' "$here/../../m4/bn_warnings.m4")"
fi

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
  $flags -std=gnu11 -D_GNU_SOURCE -Isrc $build $lua $client \
  '-DBN_REL_LIBDIR=""' '-DBN_REL_DATADIR=""' '-DPACKAGE_VERSION=""' '-DBN_CARRIER_NAME=""' \
  2>&1) || complaints="failed
$complaints"
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
