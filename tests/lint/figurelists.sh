#!/bin/sh
# Fails on an initializer with the names of three or more figures, or with prefixes or suffixes of
# them: what is true of a figure stands in its row of figures.def.  A list that has to name them has
# the words "lint: figure list" in a comment in its braces or in the line before.
# Usage: figurelists.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"

names=$(mktemp)
trap 'rm -f "$names"' EXIT
[ ! -f src/measure/figures.def ] ||
  sed -n 's/^FIGURE([uf]64, \([a-z0-9_]*\),.*/\1/p' src/measure/figures.def >"$names"
complaints=$("$here/files.sh" '*.c' | grep '^src/' |
  xargs -r awk -v names="$names" -v what=figure -v join=_ -f "$here/lists.awk")
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
