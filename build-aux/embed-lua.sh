#!/bin/sh
# Prints C table rows  { "module", data, size },  for the Lua files named; see Makefile.am.
# LUA_COMPILER, if not empty, is a luajit whose bytecode the linked library reads.
# LUA_ROOT, if not empty, is the folder that the modules are named from: ROOT/a/b.lua is "a.b", and
# keeps the names and lines that a traceback needs.
set -eu

LC_ALL=C
export LC_ALL

for file in "$@"; do
  module=$(basename "$file" .lua)
  strip=true
  if [ -n "${LUA_ROOT:-}" ]; then
    module=${file#"$LUA_ROOT"/}
    module=$(printf '%s' "${module%.lua}" | tr / .)
    strip=false
  fi
  if [ -n "${LUA_COMPILER:-}" ]; then
    "$LUA_COMPILER" - "$file" "$strip" <<'EOF'
io.write(string.dump(assert(loadfile(arg[1])), arg[2] == "true"))
EOF
  else
    cat "$file"
  fi | od -An -v -tx1 | awk -v module="$module" '
    NR == 1 { printf "{ \"%s\",\n  (const unsigned char[]){\n", module }
    { for (i = 1; i <= NF; i++) printf "%s0x%s,", (i == 1 ? "    " : " "), $i }
    { print ""; size += NF }
    END {
      if (size == 0) { print "embed-lua: " module " is empty" >"/dev/stderr"; exit 1 }
      printf "  }, %d },\n", size
    }'
done
