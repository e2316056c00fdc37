#!/bin/sh
# Fails on writable data: what an object keeps between calls belongs in a struct somebody passes.
# Allowed are one symbol each of base/alloc.c, base/file.c, base/log.c, engine/stop.c and
# study/ending.c, and one thread-local each of base/log.c, script/vm/lua.c, tests/fileio/bustrap.c
# and drivers/mysql/lib/{mariadb,library}.c, whose callers hand them nothing to keep it in.
# Usage: globals.sh build-directory
set -eu
cd "${1:?build directory}"

complaints=$(find src -name '*.o' | sort | while read -r object; do
  objdump -t "$object" | awk -v object="$object" '
    # The flag O marks data, none a thread-local; section names and files have d and f.  Constants
    # that only wait for relocation are in .data.rel.ro.
    (/ O / || (/\.t(data|bss)/ && !/ [df] /)) && !/\.data\.rel\.ro/ &&
    /[ \t]\.(data|bss|tdata|tbss|common)|\*COM\*/ {
      name = $NF
      tls = $0 ~ /\.t(data|bss)/
      allowed = (object ~ /(^|\/)(lib[a-z]+_a-)?(alloc|file|log|stop|ending)\.o$/ &&
                 object ~ /(base|engine|study)\// && (!tls || object ~ /log\.o$/)) ||
                (object ~ /(script\/vm|fileio)\/(lib[a-z]+_a-)?(lua|bustrap)\.o$/ && tls) ||
                (object ~ /mysql\/lib\/(\.libs\/)?([a-z_]+-)?(mariadb|library)\.o$/ && tls)
      if (!allowed || ++count[tls] > 1) printf "%s: writable data: %s\n", object, name
    }'
done)
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
