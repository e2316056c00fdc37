#!/bin/sh
# Starting many workers: seconds until all run, and what each costs.  The reference is compared with
# a tenth of them, because its start takes minutes with all.  PERF_WORKERS [10000].
set -eu
. "$(dirname "$0")/lib.sh"
workers=${PERF_WORKERS:-10000}

# field, delay in seconds, program, threads, then the test and its options
started()
{
  field=$1 delay=$2 program=$3 threads=$4
  shift 4
  "$measure" start 'Threads started!' "$delay" "$program" "$@" --threads="$threads" --time=600 \
    --thread-init-timeout=600 run | awk -v f="$field" '{ print $f }'
}

# The reference before 1.1 has no --thread-init-timeout.
started_reference()
{
  "$measure" start 'Threads started!' 0 "$REFERENCE_BIN" "$@" --threads=$((workers / 10)) \
    --time=600 run | awk '{ print $1 }'
}

# delay, test and its options: KiB per worker
per_worker()
{
  wait=$1
  shift
  many=$(started 2 "$wait" "$BENCH_BIN" "$workers" "$@")
  one=$(started 2 "$wait" "$BENCH_BIN" 1 "$@")
  awk -v many="$many" -v one="$one" -v n="$workers" 'BEGIN { print (many - one) / (n - 1) }'
}

perf_init 'many workers: seconds to start, KiB resident for each'
measure=$(perf_measure)
script=$PERF_TMP/empty.lua
echo 'function event() end' >"$script"
perf_row "empty script, $((workers / 10)) workers, start" - \
  "started 1 0 '$BENCH_BIN' $((workers / 10)) '$script'" "started_reference '$script'"
perf_row "cpu, $((workers / 10)) workers, start" - \
  "started 1 0 '$BENCH_BIN' $((workers / 10)) cpu" "started_reference cpu"
perf_value "empty script, $workers workers, start" '<=3' \
  "started 1 0 '$BENCH_BIN' $workers '$script'"
perf_value "cpu, $workers workers, start" '<=3' "started 1 0 '$BENCH_BIN' $workers cpu"
perf_value "empty script, KiB each, idle" '<=96' "per_worker 1 '$script' --rate=1"
perf_value "empty script, KiB each, after 10 s" '<=104' "per_worker 10 '$script'"
perf_value "cpu, KiB each" '<=16' "per_worker 1 cpu --rate=1"
perf_end
