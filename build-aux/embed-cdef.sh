#!/bin/sh
# Prints the C string literals for ffi.cdef made from a header: no preprocessor lines, no comments,
# no BN_API; see Makefile.am.
set -eu

awk '
  # A preprocessor line goes together with the lines it continues on.
  directive { directive = /\\$/; next }
  !comment && /^[ \t]*#/ { directive = /\\$/; next }
  {
    line = $0
    out = ""
    while (line != "") {
      if (comment) {
        end = index(line, "*/")
        if (end == 0) { line = ""; break }
        comment = 0
        line = substr(line, end + 2)
        continue
      }
      start = index(line, "/*")
      slashes = index(line, "//")
      if (slashes && (!start || slashes < start)) { out = out substr(line, 1, slashes - 1); break }
      if (!start) { out = out line; break }
      out = out substr(line, 1, start - 1) " "
      line = substr(line, start + 2)
      comment = 1
    }
    gsub(/(^|[ \t])BN_API([ \t]|$)/, " ", out)
    gsub(/[ \t]+/, " ", out)
    gsub(/^ | $/, "", out)
    if (out == "") next
    gsub(/\\/, "\\\\", out)
    gsub(/"/, "\\\"", out)
    printf "\"%s\\n\"\n", out
  }' "$1"
