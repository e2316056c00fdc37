#!/bin/sh
# Fails where a file includes something above its layer.  Usage: layers.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"

check() # file
{
  awk -v file="$1" '
    # The rooms of script: script.c sees all, old sees api, api sees vm.
    function script(room, inc) {
      if (inc ~ /\.inc$/) return file == "src/script/script.c"
      if (inc !~ /^script\//) return inc !~ /^sql\// || room != "vm"
      if (room == "script.c" || room == "script.h" || inc == "script/setup.h") return 1
      return inc ~ /^script\/vm\// || (inc ~ /^script\/api\// && room != "vm") ||
             (inc ~ /^script\/old\// && room == "old")
    }
    function allowed(layer, inc) {
      if (layer == "base") return inc ~ /^base\//
      if (layer == "api") return inc ~ /^(api\/|base\/(err|rng|clock)\.h$)/
      if (layer == "dialect") return inc ~ /^(dialect|api)\//
      if (layer == "option") return inc ~ /^(option|api|base)\//
      if (layer == "measure") return inc ~ /^(measure|api|base)\//
      if (layer == "engine") return inc ~ /^(engine|measure|option|api|base)\//
      if (layer == "report") return inc ~ /^(report|measure|dialect|api|base)\//
      if (layer == "hosts") return inc ~ /^(hosts|engine|measure|option|api|base)\//
      if (layer == "study") return inc ~ /^(study|report|measure|option|dialect|api|base)\//
      if (layer == "watch") return inc ~ /^(watch|measure|api|base)\/|^sql\/side_query\.h$/
      if (layer == "tests") return inc ~ /^(tests|engine|measure|option|api|base)\//
      if (layer == "sql") return inc ~ /^(sql|measure|option|api|base)\//
      if (layer == "script")
        return inc ~ /^(script|sql|engine|measure|option|api|base)\// && script(part[3], inc)
      if (layer == "drivers")
        return inc ~ /^api\/(driver|opt)\.h$/ || inc ~ ("^drivers/(common|" part[3] ")/")
      if (layer == "cli")
        return inc ~ /^(registry\.h|study\/study\.h|(cli|dialect|option|api|base)\/.*)$/
      if (file ~ /^src\/registry\.[ch]$/)
        return inc !~ /^(drivers|sql|cli)\// || inc ~ /^drivers\/[a-z]+\/options\.h$/
      return file ~ /^src\/(main\.c|(about|named_options)\.[ch])$/
    }
    function foreign(layer, inc) {
      if (inc ~ /^(lua|lauxlib|luajit|lualib)/) return layer != "script" && layer != "study"
      if (inc ~ /^(sqlite3|mysql|mariadb|libpq|errmsg|mysqld_error)/) return layer != "drivers"
      if (inc ~ /^(libaio|liburing|ck_)/) return layer != "tests"
      if (inc ~ /^jansson/) return file != "src/measure/json.c"
      if (inc ~ /^microhttpd/) return file != "src/report/openmetrics/http.c"
      if (inc ~ /^mpi\.h/) return file != "src/hosts/mpi/mpi.c"
      if (inc ~ /^zlib/) return file != "src/report/hdr/zlib.c"
      return 0
    }
    BEGIN { n = split(file, part, "/"); layer = n > 2 ? part[2] : "top" }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
      inc = $0; sub(/^[^"]*"/, "", inc); sub(/".*/, "", inc)
      if (!allowed(layer, inc))
        printf "%s:%d: %s may not include \"%s\"\n", file, NR, layer, inc
    }
    /^[ \t]*#[ \t]*include[ \t]*</ {
      inc = $0; sub(/^[^<]*</, "", inc); sub(/>.*/, "", inc)
      if (foreign(layer, inc))
        printf "%s:%d: %s may not include <%s>\n", file, NR, layer, inc
    }
    ' "$1"
}

complaints=$("$here/files.sh" '*.[ch]' | grep '^src/' | while read -r file; do check "$file"; done)
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
