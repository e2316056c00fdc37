# Prints C source with the contents of comments, strings and character constants removed; lines keep
# their numbers.
{
  out = ""
  n = length($0)
  for (i = 1; i <= n; i++) {
    c = substr($0, i, 1)
    d = substr($0, i, 2)
    if (comment) {
      if (d == "*/") { comment = 0; i++; out = out " " }
    } else if (quote != "") {
      if (c == "\\") i++
      else if (c == quote) { quote = ""; out = out c }
    } else if (d == "/*") { comment = 1; i++ }
    else if (d == "//") break
    else {
      if (c == "\"" || c == "'") quote = c
      out = out c
    }
  }
  quote = ""
  print out
}
