#!/bin/sh
# Measures the time to start and leave: `--version` from spawn to exit.
set -eu
. "$(dirname "$0")/lib.sh"

# field of the output: 1 elapsed, 2 processor time; program, arguments
spawned()
{
  field=$1
  shift
  "$measure" spawn 100 "$@" | awk -v f="$field" '{ print $f }'
}

perf_init 'start: microseconds from spawn to exit'
measure=$(perf_measure)
perf_row '--version, elapsed' '<=0.3' \
  "spawned 1 '$BENCH_BIN' --version" "spawned 1 '$REFERENCE_BIN' --version"
perf_row '--version, processor time' '<=0.3' \
  "spawned 2 '$BENCH_BIN' --version" "spawned 2 '$REFERENCE_BIN' --version"
perf_row 'cpu --events=1 run, elapsed' - \
  "spawned 1 '$BENCH_BIN' cpu --cpu-max-prime=3 --events=1 run" \
  "spawned 1 '$REFERENCE_BIN' cpu --cpu-max-prime=3 --events=1 run"
perf_end
