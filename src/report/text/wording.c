/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of texts, one per reference version, built from what the versions share. */
#include "report/text/wording.h"

/* --- 1.0 and 1.1 ------------------------------------------------------------------------------ */

static const char plain_interval[] =
    "thds: {threads} eps: {events_s:4.2} lat (ms,{rank}%): {percentile:4.2~}\n";
static const char memory_interval[] = "{mib_s:4.2} MiB/sec\n";
static const char fileio_interval[] =
    "reads: {read_mib_s:4.2} MiB/s writes: {written_mib_s:4.2} MiB/s "
    "fsyncs: {other_s:4.2}/s latency (ms,{rank}%): "
    "{percentile:4.3~}\n";
static const char sql_interval[] =
    "thds: {threads} tps: {transactions_s:4.2} qps: {queries_s:4.2} "
    "(r/w/o: {reads_s:4.2}/{writes_s:4.2}/{other_s:4.2}) lat (ms,{rank}%): {percentile:4.2~} "
    "err/s: {errors_s:4.2} reconn/s: {reconnects_s:4.2}\n";

static const char plain_queue[] = "queue length: {backlog} concurrency: {concurrency}\n";
static const char sql_queue[] = "queue length: {backlog}, concurrency: {concurrency}\n";

static const char cpu_part[] = "CPU speed:\n"
                               "    events per second: {events_s:8.2}\n";
static const char memory_part[] = "Total operations: {events} ({events_s:8.2} per second)\n"
                                  "\n";
static const char memory_transferred[] = "{mib:4.2} MiB transferred ({mib_s:4.2} MiB/sec)\n"
                                         "\n";
static const char sql_part[] =
    "SQL statistics:\n"
    "    queries performed:\n"
    "        read:                            {reads}\n"
    "        write:                           {writes}\n"
    "        other:                           {other}\n"
    "        total:                           {queries}\n"
    "    transactions:                        {transactions:-6} ({transactions_s:.2} per sec.)\n"
    "    queries:                             {queries:-6} ({queries_s:.2} per sec.)\n"
    "    ignored errors:                      {errors:-6} ({errors_s:.2} per sec.)\n"
    "    reconnects:                          {reconnects:-6} ({reconnects_s:.2} per sec.)\n";

#define EXTREMES                                                                                   \
  "         min: {min:39.2~}\n"                                                                    \
  "         avg: {avg:39.2~}\n"                                                                    \
  "         max: {max:39.2~}\n"
#define LATENCY                                                                                    \
  "\n"                                                                                             \
  "Latency (ms):\n" EXTREMES

static const char rank_line[] = "{rank:11}th percentile: {percentile:27.2~}\n";
static const char no_ranks[] = "         percentile stats:               disabled\n";
static const char latency_tail[] = "         sum: {sum:39.2~}\n";
static const char fairness[] =
    "\n"
    "Threads fairness:\n"
    "    events (avg/stddev):           {fair_events:.4}/{fair_events_dev:3.2}\n"
    "    execution time (avg/stddev):   {fair_time:.4}/{fair_time_dev:3.2}\n"
    "\n";

#define SESSION                                                                                    \
  "DEBUG:     thread #{session:3}: min: {session_min:.4~}s  avg: {session_avg:.4~}s  "             \
  "max: {session_max:.4~}s  events: {session_events}\n"

static const char session_lines[] =
    SESSION "DEBUG:                  total time taken by event execution: {session_busy:.4}s\n";

/* --- 1.0 alone -------------------------------------------------------------------------------- */

static const char fileio_part10[] = "\n"
                                    "File operations:\n"
                                    "    reads/s:                      {reads_s:4.2}\n"
                                    "    writes/s:                     {writes_s:4.2}\n"
                                    "    fsyncs/s:                     {other_s:4.2}\n"
                                    "\n"
                                    "Throughput:\n"
                                    "    read, MiB/s:                  {read_mib_s:4.2}\n"
                                    "    written, MiB/s:               {written_mib_s:4.2}\n";

static const struct bn_closing closing10 = {
    .head = "\n"
            "General statistics:\n"
            "    total time:                          {time:.4}s\n"
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
  "         read:  IOPS={reads_s:4.2} {read_mib_s:4.2} MiB/s ({read_mb_s:4.2} MB/s)\n"             \
  "         write: IOPS={writes_s:4.2} {written_mib_s:4.2} MiB/s ({written_mb_s:4.2} MB/s)\n"      \
  "         fsync: IOPS={other_s:4.2}\n"

static const char fileio_part11[] = "\n"
                                    "Throughput:\n" FILEIO_RATES;

static const struct bn_closing closing11 = {
    .head = "\n"
            "Throughput:\n"
            "    events/s (eps):                      {events_s:.4}\n"
            "    time elapsed:                        {time:.4}s\n"
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
               "         min: {min:37.2~}\n"
               "         avg: {avg:37.2~}\n"
               "         max: {max:37.2~}\n",
    .rank = "{rank:11}th percentile: {percentile:25.2~}\n",
    .no_ranks = no_ranks,
    .tail = "         sum: {sum:37.2~}\n\n",
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
const char bn_wording_retries[] =
    "    retried events:                      {retried_events} ({retries} retries)\n";
const char bn_wording_failed[] = "    failed events (--db-max-tries):      {failed_events}\n";
const char bn_wording_failed_threads[] =
    "    failed threads:                      {failed_threads}\n";
const char bn_wording_grace[] = "    finished in the grace:               {in_grace}\n";
const char bn_wording_unfinished[] = "    unfinished:                          {unfinished}";
const char bn_wording_oldest[] = " (oldest {oldest:.3} s)";
const char bn_wording_outages[] =
    "    outages of 1 s or more:              {outages} (longest {longest_outage:.3} s)\n";
const char bn_wording_times[] =
    "    set-up, grace, teardown:             {setup:.4}s, {grace:.4}s, {teardown:.4}s\n";
const char bn_wording_arrivals[] =
    "\n"
    "Arrivals (--rate):\n"
    "    due in the span:                     {due}\n"
    "    started:                             {started}\n"
    "    dropped:                             {dropped}\n"
    "    queued at the end:                   {backlog}\n"
    "    finished in the span:                {finished} ({served:.2} % of those due)\n";
const char bn_wording_warmup_backlog[] =
    "    queued when the warm-up ended:       {warmup_backlog}\n";

/* --- 0.5 -------------------------------------------------------------------------------------- */

static const char memory_part05[] = "Operations performed: {events} ({events_s:8.2} ops/sec)\n"
                                    "\n";
static const char fileio_part05[] =
    "Operations performed:  {reads} reads, {writes} writes, {other} Other = {queries} Total\n"
    "Read {read_size}b  Written {written_size}b  Total transferred {moved_size}b  "
    "({moved_size_s}b/sec)\n"
    "{requests_s:8.2} Requests/sec executed\n";
static const char sql_part05[] =
    "OLTP test statistics:\n"
    "    queries performed:\n"
    "        read:                            {reads}\n"
    "        write:                           {writes}\n"
    "        other:                           {other}\n"
    "        total:                           {queries}\n"
    "    transactions:                        {transactions:-6} ({transactions_s:.2} per sec.)\n"
    "    read/write requests:                 {requests:-6} ({requests_s:.2} per sec.)\n"
    "    other operations:                    {other:-6} ({other_s:.2} per sec.)\n"
    "    ignored errors:                      {errors:-6} ({errors_s:.2} per sec.)\n"
    "    reconnects:                          {reconnects:-6} ({reconnects_s:.2} per sec.)\n";

static const char fileio_interval05[] =
    "reads: {read_mib_s:4.2} MB/s writes: {written_mib_s:4.2} MB/s "
    "fsyncs: {other_s:4.2}/s response time: "
    "{percentile:4.3~}ms ({rank}%)\n";
static const char sql_interval05[] =
    "threads: {threads}, tps: {transactions_s:4.2}, reads: {reads_s:4.2}, writes: {writes_s:4.2}, "
    "response time: {percentile:4.2~}ms ({rank}%), errors: {errors_s:4.2}, "
    "reconnects: {reconnects_s:5.2}\n";

static const struct bn_closing closing05 = {
    .head = "\n"
            "General statistics:\n"
            "    total time:                          {span:.4}s\n"
            "    total number of events:              {events}\n"
            "    total time taken by event execution: {busy:.4}s\n",
    .latency = "    response time:\n"
               "         min:                            {min:10.2~}ms\n"
               "         avg:                            {avg:10.2~}ms\n"
               "         max:                            {max:10.2~}ms\n",
    .rank = "         {approx:-32}{percentile:10.2~}ms\n",
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
    .interval = {NULL, NULL, "{mib_s:4.2} MB/sec,\n", fileio_interval05, sql_interval05},
    .queue = {NULL, NULL, NULL, NULL, sql_queue},
    .workload = {NULL, NULL, memory_part05, fileio_part05, sql_part05},
    .transferred = "{mib:4.2} MB transferred ({mib_s:4.2} MB/sec)\n\n",
    .closing = {&closing05, &closing05, &closing05, &closing05, &closing05},
    .session =
        SESSION "DEBUG:                  total time taken by even execution: {session_busy:.4}s\n",
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
