#!/bin/sh
# Fails when the program loads more at start than LuaJIT, jansson, libm and libc (libpthread, libdl
# and librt are libc where they still exist), or a module needs LuaJIT.
# Usage: needed.sh build-directory
set -eu
build=${1:?build directory}
status=0

needed()
{
  readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

for library in $(needed "$build/bin/bench"); do
  case $library in
  libluajit-5.1.so* | libjansson.so* | libm.so* | libc.so* | ld-linux*.so*) ;;
  libpthread.so* | libdl.so* | librt.so*) ;;
  *)
    echo "bin/bench: needs $library"
    status=1
    ;;
  esac
done
needed "$build/bin/bench" | grep -q . || { echo "bin/bench: not a dynamic program"; status=1; }
for module in "$build"/lib/bench/*/*.so; do
  [ -e "$module" ] || continue
  if needed "$module" | grep -q libluajit; then
    echo "$module: needs LuaJIT"
    status=1
  fi
done
exit $status
