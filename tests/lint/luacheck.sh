#!/bin/sh
# Fails where luacheck finds a mistake in the modules of studies and of the interface for scripts:
# globals, unused values, unreachable code.  Workloads set globals on purpose (luaglobals.sh).
# Usage: luacheck.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"
command -v luacheck >/dev/null || { echo 'luacheck is missing: install lua-check'; exit 1; }

folders=
for folder in src/lua/study src/lua/internal tests/study; do
  [ ! -d "$folder" ] || folders="$folders $folder"
done
# 431: a local may have the name of a function of the file.  581: NaN is why some comparisons are
# negated.
# shellcheck disable=SC2086 # folders are words
[ -z "$folders" ] || luacheck --std luajit --no-color -q --codes \
  --ignore 431 581 212/self -- $folders
