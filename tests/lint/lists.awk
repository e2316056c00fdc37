# SPDX-License-Identifier: GPL-2.0-or-later
# Finds initializers in sources with three or more of the names in the file `names`, or with
# prefixes or suffixes of them: as strings, those of figures also as the last argument of a macro.
# `what` is what they are names of, `join` the character between their words, `table` the type of
# the tables that may have them.  An initializer with the words "lint: WHAT list" in a comment in
# its braces or in the line before is left alone.

function is_name(text)
{
  if (what == "option") {
    sub(/^--/, "", text)
    gsub(/_/, "-", text)
  }
  if (text in known) return 1
  if (text ~ ("^[a-z].*" join "$") || text ~ ("^" join "[a-z].+"))
    for (name in known)
      if (substr(text, 1, 1) == join ? \
          substr(name, length(name) - length(text) + 1) == text : index(name, text) == 1) return 1
  return 0
}

function count(text)
{
  if (is_name(text) && !((at, text) in seen)) { seen[at, text]; n++ }
}

# The initializer that has begun: its braces are counted line by line, without what strings have.
function take(line,    bare, text)
{
  if (line ~ excuse) excused = 1
  while (match(line, /"([^"\\]|\\.)*"/)) {
    text = substr(line, RSTART + 1, RLENGTH - 2)
    bare = bare substr(line, 1, RSTART - 1)
    line = substr(line, RSTART + RLENGTH)
    count(text)
  }
  bare = bare line
  sub(/\/\*.*/, "", bare)
  line = what == "figure" ? bare : ""
  while (match(line, /[A-Za-z_0-9]\(([A-Za-z_0-9 ]+, *)*[a-z_0-9]+\)/)) {
    text = substr(line, RSTART + 2, RLENGTH - 3)
    line = substr(line, RSTART + RLENGTH)
    sub(/.*, */, "", text)
    count(text)
  }
  depth += gsub(/\{/, "", bare) - gsub(/\}/, "", bare)
  if (depth > 0) return
  if (n >= 3 && !excused && !is_table) printf "%s: names of %d %ss\n", at, n, what
  open = 0
}

BEGIN {
  while ((getline name <names) > 0) known[name]
  excuse = "lint: " what " list"
}

FNR == 1 { open = 0; before = "" }

!open && /= *\{/ {
  open = 1; depth = n = 0
  at = FILENAME ":" FNR
  excused = before ~ excuse
  is_table = table != "" && $0 ~ ("struct " table " [a-z_]*\\[\\]")
}
open { take($0) }
{ before = $0 }
