#!/bin/sh
# Fails where a workload of src/lua sets a global that is not one scripts may build on.  Everything
# else is local: users put these files together with their own.  Usage: luaglobals.sh [source root]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}"
luajit=${LUAJIT:-luajit}
command -v "$luajit" >/dev/null || { echo 'luajit is missing: install luajit'; exit 1; }

allowed='
init thread_init thread_done event prepare cleanup prepare_statements drv con stmt param
cmd_prepare cmd_prewarm cmd_warmup create_table get_c_value get_pad_value
prepare_begin prepare_commit prepare_for_each_table prepare_point_selects
prepare_simple_ranges prepare_sum_ranges prepare_order_ranges prepare_distinct_ranges
prepare_index_updates prepare_non_index_updates prepare_delete_inserts
begin commit execute_point_selects
execute_simple_ranges execute_sum_ranges execute_order_ranges execute_distinct_ranges
execute_index_updates execute_non_index_updates execute_delete_inserts
close_statements check_reconnect
set_vars create_insert oltp_delete_inserts'

# The instruction GSET writes a global, whose quoted name ends the line of a listing.
complaints=$(for file in src/lua/*.lua src/lua/oltp_legacy/*.lua; do
  [ -f "$file" ] || continue
  "$luajit" -bl "$file" | sed -n 's/.* GSET .*; "\(.*\)"$/\1/p' | sort -u | while read -r name; do
    echo "$allowed" | tr ' ' '\n' | grep -qx "$name" || echo "$file: sets the global $name"
  done
done)
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
