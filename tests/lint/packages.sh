#!/bin/sh
# Fails where the package of a library that configure looks for is missing from build-aux/packages.*
# or from what configure tells its user to install, or where the table below does not know the
# library.  Usage: packages.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"

# Rows "library section Debian Fedora"; the library is the NAME of --with-NAME, or pkg-config's.
# A program that quickstart builds has every module of [build].  The libraries in [check] are for
# tests: cmocka, and both implementations of MPI (a cluster has its own).  --enable-fuzzing looks
# for no library: it needs clang, which is in [check] too.
table()
{
  cat <<'EOF'
ck          build  libck-dev          ck-devel
jansson     build  libjansson-dev     jansson-devel
libaio      build  libaio-dev         libaio-devel
liburing    build  liburing-dev       liburing-devel
luajit      build  libluajit-5.1-dev  luajit-devel
microhttpd  build  libmicrohttpd-dev  libmicrohttpd-devel
mysql       build  libmariadb-dev     mariadb-connector-c-devel
numa        build  libnuma-dev        numactl-devel
openssl     build  libssl-dev         openssl-devel
pgsql       build  libpq-dev          libpq-devel
sqlite3     build  libsqlite3-dev     sqlite-devel
zlib        build  zlib1g-dev         zlib-devel
cmocka      check  libcmocka-dev      libcmocka-devel
mpich       check  libmpich-dev       mpich-devel
openmpi     check  libopenmpi-dev     openmpi-devel
EOF
}

looked_for()
{
  cat configure.ac m4/bn_*.m4 2>/dev/null | sed -nE \
    -e 's/.*(BN_OPTIONAL|AC_ARG_WITH|AC_CHECK_LIB)\(\[([^]$]+)\].*/\2/p' \
    -e 's/.*PKG_CHECK_MODULES\(\[[^]]*\], *\[([^] ]+).*/\1/p' | sort -u
}

listed() # list, section, package
{
  awk -v section="[$2]" -v package="$3" '
    /^\[/ { inside = $0 == section; next }
    inside && index("|" $1 "|", "|" package "|") { found = 1 }
    END { exit !found }' "build-aux/packages.$1"
}

complaints=$(looked_for | while read -r name; do
  # shellcheck disable=SC2046 # a row has four words
  set -- $(table | grep "^$name ")
  [ $# -eq 4 ] || { echo "$name: not in the table of tests/lint/packages.sh"; continue; }
  listed debian "$2" "$3" || echo "$name: $3 is not in [$2] of build-aux/packages.debian"
  listed fedora "$2" "$4" || echo "$name: $4 is not in [$2] of build-aux/packages.fedora"
  cat configure.ac m4/bn_*.m4 | grep -qwF -e "$3" || echo "$name: configure does not name $3"
done)
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
