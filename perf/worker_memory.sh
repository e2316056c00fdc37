#!/bin/sh
# Resident memory per extra worker of oltp_read_write without a server: (RSS at N - RSS at 1) / (N -
# 1).  N is PERF_WORKERS [4000].  The workers are at rest (--rate=10).  LuaJIT compiles event()
# of a busy worker after some 50 calls, which takes memory, and how many workers have reached that
# after two seconds differs from run to run.
set -eu
. "$(dirname "$0")/lib.sh"
workers=${PERF_WORKERS:-4000}

# program, its options for a dry run, threads: KiB two seconds after all threads had started
resident()
{
  "$measure" start 'Threads started!' 2 \
    "$1" oltp_read_write "$2" --threads="$3" --rate=10 --time=600 run |
    awk '{ print $2 }'
}

# program, its options for a dry run: KiB per worker
per_worker()
{
  many=$(resident "$1" "$2" "$workers")
  one=$(resident "$1" "$2" 1)
  awk -v many="$many" -v one="$one" -v n="$workers" 'BEGIN { print (many - one) / (n - 1) }'
}

perf_init 'memory: KiB resident per worker'
measure=$(perf_measure)
perf_row "oltp_read_write, no server, $workers workers" '<=0.55' \
  "per_worker '$BENCH_BIN' --db-driver=null" "per_worker '$REFERENCE_BIN' --mysql-dry-run"
perf_end
