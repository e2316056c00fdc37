#!/bin/sh
# Scores of the memory test against the reference: the time of a word is the same, and what small
# blocks score more is what an event costs less.
# Many short runs: a word is a few tenths of a nanosecond, and machines change their pace by more.
set -eu
PERF_PAIRS=${PERF_PAIRS:-21}
. "$(dirname "$0")/lib.sh"

# program, block size in bytes, number of blocks, options: nanoseconds per event.  There is a time
# limit, as users have one, but the blocks are done before it.
event_ns()
{
  program=$1 block=$2 blocks=$3
  shift 3
  BENCH_COMPAT=1.0 "$program" memory --time=1000 --memory-block-size="$block" \
    --memory-total-size=$((block * blocks)) "$@" run 2>/dev/null |
    awk '/^ *total time:/ { sub(/s$/, "", $3); time = $3 }
         /^ *total number of events:/ { printf "%.8g\n", time / $5 * 1e9 }'
}

# The same as blocks per second.
score()
{
  event_ns "$@" | awk '{ printf "%.8g\n", 1e9 / $1 }'
}

# Measures the cost of an event that does next to nothing: one word that is not touched.
empty_ns()
{
  event_ns "$1" 8 1000000 --memory-oper=none
}

# Adds a line to the pairs: ns of our event, of the reference's, of both empty ones.  Who goes first
# changes.
add_pair() # number of the pair, block size, number of blocks, options
{
  turn=$1
  shift
  if [ $((turn % 2)) -eq 0 ]; then
    ours=$(event_ns "$BENCH_BIN" "$@") ref=$(event_ns "$REFERENCE_BIN" "$@")
    our_empty=$(empty_ns "$BENCH_BIN") ref_empty=$(empty_ns "$REFERENCE_BIN")
  else
    ref_empty=$(empty_ns "$REFERENCE_BIN") our_empty=$(empty_ns "$BENCH_BIN")
    ref=$(event_ns "$REFERENCE_BIN" "$@") ours=$(event_ns "$BENCH_BIN" "$@")
  fi
  echo "$ours $ref $our_empty $ref_empty" >>"$PERF_TMP/pairs"
}

# A column of the pairs: its least value.  Whatever disturbs a run makes it longer, and the
# differences asked for are small.
fastest()
{
  cut -d ' ' -f "$1" "$PERF_TMP/pairs" | sort -g | head -n 1
}

# An expression over the fastest events: ours, ref, our_empty, ref_empty.
of_fastest()
{
  awk -v ours="$(fastest 1)" -v ref="$(fastest 2)" -v our_empty="$(fastest 3)" \
    -v ref_empty="$(fastest 4)" "BEGIN { print $1 }"
}

# label, block size, number of blocks, options: a row, then what explains its ratio.
small_row()
{
  label=$1 pair=0
  shift
  : >"$PERF_TMP/pairs"
  while [ "$pair" -lt "$PERF_PAIRS" ]; do
    add_pair "$pair" "$@"
    pair=$((pair + 1))
  done
  perf_value "$label: score, ratio" '>=0.98' "of_fastest 'ref / ours'"
  printf '    an event takes %.1f ns, the reference %.1f: %.1f more; ' \
    "$(of_fastest ours)" "$(of_fastest ref)" "$(of_fastest 'ref - ours')"
  printf 'an empty one %.1f and %.1f: %.1f more\n' \
    "$(of_fastest our_empty)" "$(of_fastest ref_empty)" "$(of_fastest 'ref_empty - our_empty')"
  perf_value "    the one by the other" 0.90..1.10 \
    "of_fastest '(ref - ours) / (ref_empty - our_empty)'"
}

perf_init 'memory: blocks per second; nanoseconds per event for small blocks'
for mode in seq rnd; do
  for oper in read write; do
    [ "$mode" = seq ] && blocks=6000 || blocks=400
    options="1048576 $blocks --memory-oper=$oper --memory-access-mode=$mode"
    perf_row "1M $mode $oper" 0.98..1.03 \
      "score '$BENCH_BIN' $options" "score '$REFERENCE_BIN' $options"
  done
done
for mode in seq rnd; do
  for oper in read write; do
    [ "$mode" = seq ] && blocks=1000000 || blocks=300000
    small_row "1K $mode $oper" 1024 "$blocks" "--memory-oper=$oper" \
      "--memory-access-mode=$mode"
    [ "$mode" = seq ] && blocks=300000 || blocks=60000
    small_row "8K $mode $oper" 8192 "$blocks" "--memory-oper=$oper" \
      "--memory-access-mode=$mode"
  done
done
perf_end
