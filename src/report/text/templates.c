/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of texts, one per reference version, built from what the versions share. */
#include "report/text/templates.h"

/* --- 1.0 and 1.1 ------------------------------------------------------------------------------ */

static const char plain_interval[] =
    "thds: {threads} eps: {events_per_s:4.2}[ lat (ms,{rank}%): {percentile_s:4.2~ms}]\n";
static const char memory_interval[] = "{bytes_touched_per_s:4.2MiB} MiB/sec\n";
static const char fileio_interval[] =
    "reads: {bytes_read_per_s:4.2MiB} MiB/s writes: {bytes_written_per_s:4.2MiB} MiB/s "
    "fsyncs: {other_per_s:4.2}/s[ latency (ms,{rank}%): "
    "{percentile_s:4.3~ms}]\n";
static const char sql_interval[] =
    "thds: {threads} tps: {transactions_per_s:4.2} qps: {queries_per_s:4.2} "
    "(r/w/o: {reads_per_s:4.2}/{writes_per_s:4.2}/{other_per_s:4.2})[ lat (ms,{rank}%): "
    "{percentile_s:4.2~ms}] "
    "err/s: {errors_per_s:4.2} reconn/s: {reconnects_per_s:4.2}\n";

static const char plain_queue[] = "queue length: {backlog} concurrency: {concurrency}\n";
static const char sql_queue[] = "queue length: {backlog}, concurrency: {concurrency}\n";

static const char cpu_part[] = "CPU speed:\n"
                               "    events per second: {events_per_s:8.2}\n";
static const char memory_part[] = "Total operations: {events} ({events_per_s:8.2} per second)\n"
                                  "\n";
static const char memory_transferred[] =
    "{bytes_moved:4.2MiB} MiB transferred ({bytes_touched_per_s:4.2MiB} MiB/sec)\n"
    "\n";
static const char sql_part[] =
    "SQL statistics:\n"
    "    queries performed:\n"
    "        read:                            {reads}\n"
    "        write:                           {writes}\n"
    "        other:                           {other}\n"
    "        total:                           {queries}\n"
    "    transactions:                        {transactions:-6} ({transactions_per_s:.2} per "
    "sec.)\n"
    "    queries:                             {queries:-6} ({queries_per_s:.2} per sec.)\n"
    "    ignored errors:                      {errors:-6} ({errors_per_s:.2} per sec.)\n"
    "    reconnects:                          {reconnects:-6} ({reconnects_per_s:.2} per sec.)\n";

#define EXTREMES                                                                                   \
  "         min: {min_s:39.2~ms}\n"                                                                \
  "         avg: {avg_s:39.2~ms}\n"                                                                \
  "         max: {max_s:39.2~ms}\n"
#define LATENCY                                                                                    \
  "\n"                                                                                             \
  "Latency (ms):\n" EXTREMES

static const char rank_line[] = "{rank:11}th percentile: {percentile_s:27.2~ms}\n";
static const char no_ranks[] = "         percentile stats:               disabled\n";
static const char latency_tail[] = "         sum: {sum_s:39.2~ms}\n";
static const char fairness[] =
    "\n"
    "Threads fairness:\n"
    "    events (avg/stddev):           {fair_events_avg:.4}/{fair_events_dev:3.2}\n"
    "    execution time (avg/stddev):   {fair_time_avg:.4}/{fair_time_dev:3.2}\n"
    "\n";

#define SESSION                                                                                    \
  "DEBUG:     thread #{session:3}: min: {session_min_s:.4~}s  avg: {session_avg_s:.4~}s  "         \
  "max: {session_max_s:.4~}s  events: {session_events}\n"

static const char session_lines[] =
    SESSION "DEBUG:                  total time taken by event execution: {session_busy_s:.4}s\n";

/* --- 1.0 alone -------------------------------------------------------------------------------- */

static const char fileio_part10[] =
    "\n"
    "File operations:\n"
    "    reads/s:                      {reads_per_s:4.2}\n"
    "    writes/s:                     {writes_per_s:4.2}\n"
    "    fsyncs/s:                     {other_per_s:4.2}\n"
    "\n"
    "Throughput:\n"
    "    read, MiB/s:                  {bytes_read_per_s:4.2MiB}\n"
    "    written, MiB/s:               {bytes_written_per_s:4.2MiB}\n";

static const struct bn_closing closing10 = {
    .head = "\n"
            "General statistics:\n"
            "    total time:                          {at_s:.4}s\n"
            "    total number of events:              {events}\n",
    .latency = LATENCY,
    .rank = rank_line,
    .no_ranks = no_ranks,
    .tail = latency_tail,
    .end = fairness,
};

static const struct bn_dialect dialect10 = {
    .stamp_open = "[ ",
    .stamp_close = "s ] ",
    .validation = "Validation checks: on.\n\n",
    .seed_absent = "Initializing random number generator from current time\n\n",
    .interval = {plain_interval, plain_interval, memory_interval, fileio_interval, sql_interval},
    .queue = {plain_queue, plain_queue, NULL, NULL, sql_queue},
    .workload = {NULL, cpu_part, memory_part, fileio_part10, sql_part},
    .transferred = memory_transferred,
    .closing = {&closing10, &closing10, &closing10, &closing10, &closing10},
    .session = session_lines,
};

/* --- 1.1 alone -------------------------------------------------------------------------------- */

#define FILEIO_RATES                                                                               \
  "         read:  IOPS={reads_per_s:4.2} {bytes_read_per_s:4.2MiB} MiB/s "                        \
  "({bytes_read_per_s:4.2MB} MB/s)\n"                                                              \
  "         write: IOPS={writes_per_s:4.2} {bytes_written_per_s:4.2MiB} MiB/s "                    \
  "({bytes_written_per_s:4.2MB} MB/s)\n"                                                           \
  "         fsync: IOPS={other_per_s:4.2}\n"

static const char fileio_part11[] = "\n"
                                    "Throughput:\n" FILEIO_RATES;

static const struct bn_closing closing11 = {
    .head = "\n"
            "Throughput:\n"
            "    events/s (eps):                      {events_per_s:.4}\n"
            "    time elapsed:                        {at_s:.4}s\n"
            "    total number of events:              {events}\n",
    .latency = LATENCY,
    .rank = rank_line,
    .no_ranks = no_ranks,
    .tail = latency_tail,
    .end = fairness,
};

/* 1.1 prints nothing general after the part of fileio, and its columns are two narrower. */
static const struct bn_closing fileio_closing11 = {
    .head = "",
    .latency = "\n"
               "Latency (ms):\n"
               "         min: {min_s:37.2~ms}\n"
               "         avg: {avg_s:37.2~ms}\n"
               "         max: {max_s:37.2~ms}\n",
    .rank = "{rank:11}th percentile: {percentile_s:25.2~ms}\n",
    .no_ranks = no_ranks,
    .tail = "         sum: {sum_s:37.2~ms}\n\n",
    .end = "",
    .no_sessions = true,
};

static const struct bn_dialect dialect11 = {
    .stamp_open = "[ ",
    .stamp_close = "s ] ",
    .validation = "Validation checks: on.\n\n",
    .seed_absent = "Initializing random number generator from current time\n\n",
    .interval = {plain_interval, plain_interval, memory_interval, fileio_interval, sql_interval},
    .queue = {plain_queue, plain_queue, NULL, NULL, sql_queue},
    .workload = {NULL, cpu_part, memory_part, fileio_part11, sql_part},
    .transferred = memory_transferred,
    .closing = {&closing11, &closing11, &closing11, &fileio_closing11, &closing11},
    .session = session_lines,
};

/* --- bench's own form ------------------------------------------------------------------------- */

static const char fileio_part[] = "\n"
                                  "File operations:\n" FILEIO_RATES;

static const struct bn_dialect native_form = {
    .stamp_open = "[ ",
    .stamp_close = "s ] ",
    .validation = "Validation checks: on.\n\n",
    .interval = {plain_interval, plain_interval, memory_interval, fileio_interval, sql_interval},
    .queue = {plain_queue, plain_queue, NULL, NULL, sql_queue},
    .workload = {NULL, cpu_part, memory_part, fileio_part, sql_part},
    .transferred = memory_transferred,
    .timing = "\n"
              "Latency of {timing} (ms):\n" EXTREMES,
    .closing = {&closing11, &closing11, &closing11, &closing11, &closing11},
    .session = session_lines,
};
const char bn_template_retries[] =
    "    retried events:                      {retried_events} ({retries} retries)\n";
const char bn_template_failed[] = "    failed events (--db-max-tries):      {failed_events}\n";
const char bn_template_fatal[] = "    of the errors, not ignored:          {fatal_errors}\n";
const char bn_template_failed_threads[] =
    "    failed threads:                      {failed_threads}\n";
const char bn_template_grace[] = "    finished in the grace:               {in_grace}\n";
const char bn_template_unfinished[] = "    unfinished:                          {unfinished}";
const char bn_template_oldest[] = " (oldest {oldest_s:.3} s)";
const char bn_template_outages[] =
    "    outages of 1 s or more:              {outages} (longest {longest_outage_s:.3} s)\n";
const char bn_template_times[] =
    "    set-up, grace, teardown:             {setup_s:.4}s, {grace_s:.4}s, {teardown_s:.4}s\n";
const char bn_template_arrivals[] =
    "\n"
    "Arrivals (--rate):\n"
    "    due in the span:                     {due}\n"
    "    started:                             {started}\n"
    "    dropped:                             {dropped}\n"
    "    queued at the end:                   {backlog}\n"
    "    finished in the span:                {finished} ({served:.2%} % of those due)\n";
const char bn_template_warmup_backlog[] =
    "    queued when the warm-up ended:       {warmup_backlog}\n";

/* --- 0.5 -------------------------------------------------------------------------------------- */

static const char memory_part05[] = "Operations performed: {events} ({events_per_s:8.2} ops/sec)\n"
                                    "\n";
static const char fileio_part05[] =
    "Operations performed:  {reads} reads, {writes} writes, {other} Other = {queries} Total\n"
    "Read {bytes_read:size}b  Written {bytes_written:size}b  Total transferred {bytes_moved:size}b "
    " "
    "({bytes_moved_per_s:size}b/sec)\n"
    "{requests_per_s:8.2} Requests/sec executed\n";
static const char sql_part05[] =
    "OLTP test statistics:\n"
    "    queries performed:\n"
    "        read:                            {reads}\n"
    "        write:                           {writes}\n"
    "        other:                           {other}\n"
    "        total:                           {queries}\n"
    "    transactions:                        {transactions:-6} ({transactions_per_s:.2} per "
    "sec.)\n"
    "    read/write requests:                 {requests:-6} ({requests_per_s:.2} per sec.)\n"
    "    other operations:                    {other:-6} ({other_per_s:.2} per sec.)\n"
    "    ignored errors:                      {errors:-6} ({errors_per_s:.2} per sec.)\n"
    "    reconnects:                          {reconnects:-6} ({reconnects_per_s:.2} per sec.)\n";

static const char fileio_interval05[] =
    "reads: {bytes_read_per_s:4.2MiB} MB/s writes: {bytes_written_per_s:4.2MiB} MB/s "
    "fsyncs: {other_per_s:4.2}/s response time: "
    "{percentile_s:4.3~ms}ms ({rank}%)\n";
static const char sql_interval05[] =
    "threads: {threads}, tps: {transactions_per_s:4.2}, reads: {reads_per_s:4.2}, writes: "
    "{writes_per_s:4.2}, "
    "response time: {percentile_s:4.2~ms}ms ({rank}%), errors: {errors_per_s:4.2}, "
    "reconnects: {reconnects_per_s:5.2}\n";

static const struct bn_closing closing05 = {
    .head = "\n"
            "General statistics:\n"
            "    total time:                          {span_s:.4}s\n"
            "    total number of events:              {events}\n"
            "    total time taken by event execution: {sum_s:.4}s\n",
    .latency = "    response time:\n"
               "         min:                            {min_s:10.2~ms}ms\n"
               "         avg:                            {avg_s:10.2~ms}ms\n"
               "         max:                            {max_s:10.2~ms}ms\n",
    .rank = "         {approx:-32}{percentile_s:10.2~ms}ms\n",
    .no_ranks = "",
    .tail = "",
    .end = fairness,
    .rank_needs_events = true,
};

static const struct bn_dialect dialect05 = {
    .stamp_open = "[",
    .stamp_close = "s] ",
    .stamp_width = 4,
    .validation = "Additional request validation enabled.\n\n",
    .from_timer = "Initializing random number generator from timer.\n\n",
    .seed_absent = "Random number generator seed is 0 and will be ignored\n\n",
    .interval = {NULL, NULL, "{bytes_touched_per_s:4.2MiB} MB/sec,\n", fileio_interval05,
                 sql_interval05},
    .queue = {NULL, NULL, NULL, NULL, sql_queue},
    .workload = {NULL, NULL, memory_part05, fileio_part05, sql_part05},
    .transferred = "{bytes_moved:4.2MiB} MB transferred ({bytes_touched_per_s:4.2MiB} MB/sec)\n\n",
    .closing = {&closing05, &closing05, &closing05, &closing05, &closing05},
    .session = SESSION
    "DEBUG:                  total time taken by even execution: {session_busy_s:.4}s\n",
};

const struct bn_dialect *bn_dialect_get(enum bn_version version, bool native)
{
  if (native)
    return &native_form;
  switch (version) {
  case BN_V05:
    return &dialect05;
  case BN_V10:
    return &dialect10;
  case BN_V11:
    break;
  }
  return &dialect11;
}
