#!/bin/sh
# Rate of fileio with plain system calls against the reference: every mode, in the page cache, where
# the programs themselves count most, and direct, where the device does.
set -eu
folder=${PERF_FOLDER:-}
. "$(dirname "$0")/lib.sh"

# program, mode, extra flags: requests per second
rate()
{
  BENCH_COMPAT=1.0 "$1" fileio $files --file-test-mode="$2" --file-extra-flags="$3" \
    --file-block-size=4096 --file-fsync-freq=0 --file-fsync-end=off --time="$PERF_SECONDS" run |
    awk '/^ *(reads|writes)\/s:/ { n += $2 } END { print n }'
}

perf_init 'fileio: requests per second, sync'
[ -z "$folder" ] || PERF_WORK=$(mktemp -d "$folder/bench-perf-XXXXXX")
cd "${PERF_WORK:-$PERF_TMP}"
trap 'rm -rf "$PERF_TMP" "${PERF_WORK:-}"' EXIT
files="--file-num=4 --file-total-size=256M"
for flags in '' direct; do
  for mode in seqwr seqrewr seqrd rndrd rndwr rndrw; do
    "$BENCH_BIN" fileio $files prepare >/dev/null
    perf_row "$mode ${flags:-page cache}" '>=0.98' \
      "rate '$BENCH_BIN' $mode '$flags' 2>/dev/null" \
      "rate '$REFERENCE_BIN' $mode '$flags'"
  done
done
perf_end
