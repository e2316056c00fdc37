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

# shellcheck disable=SC2086 # names without spaces, one per word
complaints=$(echo "$ours" | grep '\.c$' | xargs awk -v names="$names" '
  function is_option(text) {
    sub(/^--/, "", text)
    gsub(/_/, "-", text)
    if (text in option) return 1
    if (text ~ /^[a-z].*-$/ || text ~ /^-[a-z].+/)
      for (name in option)
        if (text ~ /^-/ ? substr(name, length(name) - length(text) + 1) == text \
                        : index(name, text) == 1) return 1
    return 0
  }
  # The initializer that has begun: its braces are counted line by line, without what strings have.
  function take(line,    bare, text, found) {
    if (line ~ /lint: option list/) excused = 1
    while (match(line, /"([^"\\]|\\.)*"/)) {
      text = substr(line, RSTART + 1, RLENGTH - 2)
      bare = bare substr(line, 1, RSTART - 1)
      line = substr(line, RSTART + RLENGTH)
      if (is_option(text) && !((at, text) in seen)) { seen[at, text]; n++ }
    }
    bare = bare line
    sub(/\/\*.*/, "", bare)
    depth += gsub(/\{/, "", bare) - gsub(/\}/, "", bare)
    if (depth > 0) return
    if (n >= 3 && !excused && !is_table) printf "%s: names of %d options\n", at, n
    open = 0
  }
  BEGIN { while ((getline name <names) > 0) option[name] }
  FNR == 1 { open = 0; before = head = "" }
  !open && /= *\{/ {
    open = 1; depth = n = 0
    at = FILENAME ":" FNR
    excused = before ~ /lint: option list/
    is_table = (head $0) ~ /struct bn_opt [a-z_]*\[\]/
  }
  open { take($0) }
  { before = $0 }
')
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
