#!/bin/sh
# Fails on an initializer with the names of three or more options, or with prefixes or suffixes of
# them, outside the tables of options: a trait of an option stands in its declaration
# (bn_opt.traits).  A list that has to name them has the words "lint: option list" in a comment in
# its braces or in the line before.  Usage: optionlists.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"

# Options of subcommands are not those of a run.
ours=$("$here/files.sh" '*.c' '*.lua' | grep '^src/')
names=$(mktemp)
trap 'rm -f "$names"' EXIT
for file in $ours; do
  case $file in
  src/study/* | src/report/saved.c | src/report/merged.c | src/cli/*) ;;
  *.lua) sed -nE 's/^ *(sysbench\.cmdline\.options\.)?([a-z_]+) = \{"[A-Z].*/\2/p' "$file" ;;
  *.c) tr '\n' ' ' <"$file" | grep -oE '\{ *\.name = "[^"]*", *\.type = ' | cut -d'"' -f2 ;;
  esac
done | tr _ - | sort -u >"$names"

complaints=$(echo "$ours" | grep '\.c$' |
  xargs awk -v names="$names" -v what=option -v join=- -v table=bn_opt -f "$here/lists.awk")
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
