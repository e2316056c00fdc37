# Prints "file:line name" for each function and variable bn_* that a header declares and does not
# define itself.  Reads a header without comments (strip.awk), whose name is in `file`.
/^[ \t]*#/ || joined { joined = /\\$/; next }
{
  for (i = 1; i <= length($0); i++) {
    c = substr($0, i, 1)
    if (c == "{") depth++
    else if (c == "}") {
      # A body ends what it belongs to, members of a struct do not.
      if (--depth == 0 && text ~ /\)[ \t]*$/) text = ""
    } else if (c == ";" && depth == 0) {
      declaration(text)
      text = ""
    } else if (depth == 0) text = text c
  }
  text = text " "
}

function declaration(text,   name) {
  if (text ~ /(^|[ \t])typedef[ \t]/) return
  # The name of a function stands before its parameters, that of a variable at the end of each part.
  if (match(text, /bn_[a-z0-9_]+[ \t]*\(/)) {
    name = substr(text, RSTART, RLENGTH - 1)
    gsub(/[ \t]/, "", name)
    print file ":" FNR, name
  } else if (text ~ /(^|[ \t])extern[ \t]/) {
    gsub(/(struct|enum|union)[ \t]+bn_[a-z0-9_]+/, "", text)
    while (match(text, /bn_[a-z0-9_]+/)) {
      print file ":" FNR, substr(text, RSTART, RLENGTH)
      text = substr(text, RSTART + RLENGTH)
    }
  }
}
