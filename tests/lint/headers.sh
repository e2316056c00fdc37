#!/bin/sh
# Fails when a header does not compile alone, or not twice.  Usage: headers.sh [source root]
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
lua=$(pkg-config --cflags luajit 2>/dev/null || true)

status=0
for header in $("$here/files.sh" '*.h' | grep '^src/' | not_skipped); do
  # shellcheck disable=SC2086 # flags are words
  printf '#include "%s"\n#include "%s"\n' "${header#src/}" "${header#src/}" |
    ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Isrc ${LUAJIT_CFLAGS:-$lua} $client -Wall -Wextra -Werror \
      -Wundef -Wstrict-prototypes -fsyntax-only -x c - || {
    echo "$header: does not compile alone"
    status=1
  }
done
exit $status
