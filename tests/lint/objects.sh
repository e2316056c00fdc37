#!/bin/sh
# Prints the symbols of the program and its modules, a line each: "object symbol D" where the object
# defines it, "object symbol U" where it expects it.  An object is called as its source, behind the
# name of its module if it is in one: src/sql/conn.o, mysql:src/drivers/mysql/wire/reply.o.
# Usage: objects.sh build-directory
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:?build directory}"

# Rows "object file, readable name".  libtool keeps the code of x/y.lo in x/.libs/y.o.
objects()
{
  MAKEFLAGS='' ${MAKE:-make} -s --no-print-directory -f "$here/objects.mk" print-objects |
    awk 'NF == 2 {
      folder = $2; sub(/[^\/]*$/, "", folder)
      file = substr($2, length(folder) + 1)
      if (sub(/\.lo$/, ".o", file)) folder = folder ".libs/"
      readable = folder file
      sub(/\.libs\//, "", readable)
      sub(/[A-Za-z0-9_]*(_a|la)-/, "", readable)
      module = $1; sub(/.*\//, "", module); sub(/\.la$/, "", module)
      print folder file, (module == "bench" ? "" : module ":") readable
    }'
}

list=$(objects)
[ -n "$list" ] || { echo "$PWD: the Makefile names no objects" >&2; exit 1; }
echo "$list" | cut -d ' ' -f 1 | xargs nm -A -g -P | awk -v list="$list" '
  BEGIN {
    n = split(list, field, /[ \n]/)
    for (i = 1; i < n; i += 2) names[field[i]] = names[field[i]] " " field[i + 1]
  }
  { sub(/:$/, "", $1)
    n = split(names[$1], name, " ")
    for (i = 1; i <= n; i++)
      print name[i], $2, ($3 ~ /^[Uvw]$/ ? "U" : "D") }'
