#!/bin/sh
# Fails where configure looks for a library that Makefile.am does not use, or that
# third_party/README.md does not name.  Usage: libraries.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"

# Rows "name variable" of the macros that configure.ac calls; BN_MYSQL has its own way to look.
looked_for()
{
  cat m4/bn_*.m4 2>/dev/null |
    sed -n 's/^ *BN_OPTIONAL(\[\([a-z0-9]*\)\], *\[\([A-Z0-9]*\)\].*/\1 \2/p'
  ! grep -qs '^BN_MYSQL' configure.ac || echo 'mysql MYSQL'
}

looked_for | while read -r name variable; do
  # Headers alone are used too: CK_CFLAGS.
  grep -qE "\(${variable}_(LIBS|CFLAGS)\)" Makefile.am || echo "$name: Makefile.am does not use it"
  grep -q -- "--with-$name=" third_party/README.md || echo "$name: not in third_party/README.md"
done | {
  ! grep .
}
