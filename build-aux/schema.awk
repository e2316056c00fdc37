# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the schema of documents with the figures that figures.def has.
# Usage: awk -f schema.awk figures.def result.schema.json

function quoted(text, n,    part) # the nth text in quotes
{
  split(text, part, "\"")
  return part[2 * n]
}

# FIGURE(type, name, unit, ..., text)
function take(row,    part, name, unit, words)
{
  sub(/^FIGURE\(/, "", row)
  split(row, part, /, */)
  name = part[2]
  unit = quoted(row, 1)
  words = quoted(row, 2) (unit in unit_words ? "; " unit_words[unit] : "")
  figures = figures (figures == "" ? "" : ",\n") \
    "            \"" name "\": {\n" \
    "              \"description\": \"" words "\",\n" \
    "              \"$ref\": \"#/$defs/" (part[1] == "u64" ? "count" : "number") "\"\n" \
    "            }"
}

BEGIN {
  unit_words["s"] = "seconds"
  unit_words["bytes"] = "bytes"
  unit_words["1/s"] = "per second"
  unit_words["bytes/s"] = "bytes per second"
}

FILENAME ~ /\.def$/ {
  if (/^FIGURE\(/) row = ""
  if (/^FIGURE\(/ || row != "") row = row (row == "" ? "" : " ") $0
  if (row != "" && /"\)$/) { take(row); row = "" }
  next
}

# The members of "figures" end at the brace that closes its properties.
/^        "figures": \{$/ { within = 1 }
!inside { print }
within && /^          "properties": \{$/ { inside = 1; print figures }
inside && /^          \}$/ { inside = within = 0; print }
