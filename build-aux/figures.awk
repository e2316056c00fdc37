# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the schema of documents, or a manual page, with the figures that figures.def has.
# Usage: awk -f figures.awk figures.def result.schema.json
#        awk -f figures.awk figures.def PAGE; "@FIGURES@" is a table of all, "@FIGURES PARTS@" is a
#        sentence's list of those with that trait

function quoted(text, n,    part) # the nth text in quotes
{
  split(text, part, "\"")
  return part[2 * n]
}

# Returns a text in mdoc: an option is a macro.
function formatted(text,    n, word, i, all)
{
  n = split(text, word, " ")
  for (i = 1; i <= n; i++) {
    if (word[i] ~ /--[a-z]/) {
      sub(/--/, " Fl Fl ", word[i])
      sub(/=/, " Ns = Ns Cm ", word[i])
      gsub(/[().:,]/, " & ", word[i])
      word[i] = word[i] " No"
    }
    all = all " " word[i]
  }
  sub(/ No$/, "", all)
  gsub(/  +/, " ", all)
  sub(/ $/, "", all)
  return all
}

# FIGURE(type, name, unit, better, rule, kinds, traits, text)
function take(row,    part, name, unit, words)
{
  sub(/^FIGURE\(/, "", row)
  split(row, part, /, */)
  name = part[2]
  unit = quoted(row, 1)
  items = items ".It " name " Ta" formatted(quoted(row, 2)) "\n"
  if (part[7] ~ /PARTS/) listed[++n_listed] = name
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

/^@FIGURES@$/ { printf "%s", items; next }
/^@FIGURES PARTS@$/ {
  for (i = 1; i < n_listed; i++) print ".Va " listed[i] (i < n_listed - 1 ? " ," : "")
  print "and\n.Va " listed[n_listed] " ."
  next
}

# The members of "figures" end at the brace that closes its properties.
/^        "figures": \{$/ { within = 1 }
!inside { print }
within && /^          "properties": \{$/ { inside = 1; print figures }
inside && /^          \},?$/ { inside = within = 0; print }
