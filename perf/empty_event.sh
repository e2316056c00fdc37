#!/bin/sh
# Measures the cost of an event: events per second of a script with an empty event(), against the
# reference.
set -eu
. "$(dirname "$0")/lib.sh"

# program, threads, further options
events()
{
  program=$1 threads=$2
  shift 2
  "$program" "$script" --threads="$threads" --time="$PERF_SECONDS" "$@" run |
    awk -v s="$PERF_SECONDS" '/^ *total number of events:/ { print $5 / s }'
}

perf_init 'empty event(): events per second'
script=$PERF_TMP/empty.lua
echo 'function event() end' >"$script"
perf_row 'empty event(), 1 thread, TSC clock' '>=4' \
  "events '$BENCH_BIN' 1" "events '$REFERENCE_BIN' 1"
perf_row 'empty event(), 1 thread, vdso clock' '>=3.5' \
  "events '$BENCH_BIN' 1 --clock=vdso" "events '$REFERENCE_BIN' 1"
perf_row 'empty event(), 2 threads, TSC clock' '>=4' \
  "events '$BENCH_BIN' 2" "events '$REFERENCE_BIN' 2"
perf_row '2 threads against our own 1' '>=1.9' \
  "events '$BENCH_BIN' 2" "events '$BENCH_BIN' 1"
perf_end
