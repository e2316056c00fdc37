/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes the figures of what is watched from two readings. */
#include "measure/watch.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/metric.h"
#include "base/alloc.h"
#include "measure/view.h"

static const double ns_per_s = 1e9, ms_per_s = 1e3, percent = 100;
enum { SECTOR = 512 }; /* bytes */

/* Adds a figure.  The bound is never exceeded: a document with more figures is refused, and a run
   does not have more. */
static void watch_add_figure(struct bn_watched *out, const char *name, double value)
{
  if (out->n < BN_WATCHED_MAX)
    out->figure[out->n++] = (struct bn_watched_figure){.name = name, .value = value};
}

/* Returns whether both readings have value i. */
static bool watch_is_known(const struct bn_reading *from, const struct bn_reading *to, size_t i)
{
  return from->value[i] != BN_ABSENT && to->value[i] != BN_ABSENT;
}

/* Returns the time between two readings. */
static double watch_span_s(const struct bn_reading *from, const struct bn_reading *to)
{
  return (double)(to->at_ns - from->at_ns) / ns_per_s;
}

/* Returns how much a count has grown, or 0 if it has fallen. */
static uint64_t watch_growth(const struct bn_reading *from, const struct bn_reading *to, size_t i)
{
  return to->value[i] > from->value[i] ? to->value[i] - from->value[i] : 0;
}

/* --- the host --------------------------------------------------------------------------------- */

/* A count of the host and the name of its figure. */
struct host_figure {
  enum bn_host_count count;
  const char *name;
};

static const struct host_figure shares[] = {
    {BN_HOST_USER, "host_user_percent"},       {BN_HOST_NICE, "host_nice_percent"},
    {BN_HOST_SYSTEM, "host_system_percent"},   {BN_HOST_IRQ, "host_irq_percent"},
    {BN_HOST_SOFTIRQ, "host_softirq_percent"}, {BN_HOST_IOWAIT, "host_iowait_percent"},
    {BN_HOST_STEAL, "host_steal_percent"},     {BN_HOST_IDLE, "host_idle_percent"},
};
static const struct host_figure rates[] = {
    {BN_HOST_SWITCHES, "host_context_switches_per_s"},
    {BN_HOST_INTERRUPTS, "host_interrupts_per_s"},
    {BN_HOST_FORKS, "host_forks_per_s"},
    {BN_HOST_RECEIVED, "host_network_received_bytes_per_s"},
    {BN_HOST_RECEIVED_PACKETS, "host_network_received_packets_per_s"},
    {BN_HOST_SENT, "host_network_sent_bytes_per_s"},
    {BN_HOST_SENT_PACKETS, "host_network_sent_packets_per_s"},
    {BN_HOST_LOOPBACK, "host_loopback_bytes_per_s"},
};
static const struct host_figure states[] = {
    {BN_HOST_RUNNING, "host_processes_running"},
    {BN_HOST_BLOCKED, "host_processes_blocked"},
    {BN_HOST_AVAILABLE, "host_memory_available_bytes"},
    {BN_HOST_CACHED, "host_memory_cached_bytes"},
    {BN_HOST_DIRTY, "host_memory_dirty_bytes"},
    {BN_HOST_WRITEBACK, "host_memory_writeback_bytes"},
    {BN_HOST_SWAP_USED, "host_swap_used_bytes"},
};
enum {
  SHARES = sizeof shares / sizeof *shares,
  RATES = sizeof rates / sizeof *rates,
  STATES = sizeof states / sizeof *states
};

/* Adds the shares of the kinds of processor time.  Adds nothing if one kind is not known, because
   the sum of all kinds is not known then. */
static void watch_add_shares(const struct bn_reading *from, const struct bn_reading *to,
                             struct bn_watched *out)
{
  uint64_t sum = 0;

  for (size_t i = 0; i < SHARES; i++) {
    if (!watch_is_known(from, to, shares[i].count))
      return;
    sum += watch_growth(from, to, shares[i].count);
  }
  if (sum == 0)
    return;
  for (size_t i = 0; i < SHARES; i++)
    watch_add_figure(out, shares[i].name,
                     (double)watch_growth(from, to, shares[i].count) / (double)sum * percent);
}

void bn_watched_add_host(const struct bn_reading *from, const struct bn_reading *to,
                         struct bn_watched *out)
{
  const double span_s = watch_span_s(from, to);

  watch_add_shares(from, to, out);
  for (size_t i = 0; i < RATES; i++)
    if (watch_is_known(from, to, rates[i].count))
      watch_add_figure(out, rates[i].name, (double)watch_growth(from, to, rates[i].count) / span_s);
  for (size_t i = 0; i < STATES; i++)
    if (to->value[states[i].count] != BN_ABSENT)
      watch_add_figure(out, states[i].name, (double)to->value[states[i].count]);
}

/* --- a device --------------------------------------------------------------------------------- */

/* A kind of requests: the fields of its row and the names of its figures. */
static const struct request {
  enum bn_disk_field requests, merged, sectors, ms;
  const char *rate, *bytes, *merges, *await, *size;
} requests[] = {
    {BN_ROW_READS, BN_ROW_READS_MERGED, BN_ROW_SECTORS_READ, BN_ROW_READ_MS, "device_reads_per_s",
     "device_read_bytes_per_s", "device_reads_merged_per_s", "device_read_await_ms",
     "device_read_size_bytes"},
    {BN_ROW_WRITES, BN_ROW_WRITES_MERGED, BN_ROW_SECTORS_WRITTEN, BN_ROW_WRITE_MS,
     "device_writes_per_s", "device_written_bytes_per_s", "device_writes_merged_per_s",
     "device_write_await_ms", "device_write_size_bytes"},
    {BN_ROW_DISCARDS, BN_ROW_DISCARDS_MERGED, BN_ROW_SECTORS_DISCARDED, BN_ROW_DISCARD_MS,
     "device_discards_per_s", "device_discarded_bytes_per_s", "device_discards_merged_per_s",
     "device_discard_await_ms", "device_discard_size_bytes"},
};

/* Adds the mean of n values with that sum, or no figure if there are none. */
static void watch_add_mean(struct bn_watched *out, const char *name, double sum, uint64_t n)
{
  if (n > 0)
    watch_add_figure(out, name, sum / (double)n);
}

/* Adds the figures of a kind of requests.  Without requests in the span, their mean time and size
   are left out. */
static void watch_add_requests(const struct bn_reading *from, const struct bn_reading *to,
                               const struct request *r, struct bn_watched *out)
{
  const uint64_t n = watch_growth(from, to, r->requests);
  const uint64_t sectors = watch_growth(from, to, r->sectors);
  const double span_s = watch_span_s(from, to);

  watch_add_figure(out, r->rate, (double)n / span_s);
  watch_add_figure(out, r->bytes, (double)sectors * SECTOR / span_s);
  watch_add_figure(out, r->merges, (double)watch_growth(from, to, r->merged) / span_s);
  watch_add_mean(out, r->await, (double)watch_growth(from, to, r->ms), n);
  watch_add_mean(out, r->size, (double)sectors * SECTOR, n);
}

void bn_watched_add_device(const struct bn_reading *from, const struct bn_reading *to,
                           struct bn_watched *out)
{
  const double span_s = watch_span_s(from, to), span_ms = span_s * ms_per_s;

  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
    if (watch_is_known(from, to, requests[i].requests))
      watch_add_requests(from, to, &requests[i], out);
  if (watch_is_known(from, to, BN_ROW_FLUSHES)) {
    const uint64_t flushes = watch_growth(from, to, BN_ROW_FLUSHES);

    watch_add_figure(out, "device_flushes_per_s", (double)flushes / span_s);
    watch_add_mean(out, "device_flush_await_ms", (double)watch_growth(from, to, BN_ROW_FLUSH_MS),
                   flushes);
  }
  /* Every kernel has these two fields. */
  watch_add_figure(out, "device_queue_length",
                   (double)watch_growth(from, to, BN_ROW_QUEUE_MS) / span_ms);
  watch_add_figure(out, "device_utilization_percent",
                   (double)watch_growth(from, to, BN_ROW_BUSY_MS) / span_ms * percent);
}

/* --- a server --------------------------------------------------------------------------------- */

/* Adds the growth of a server's counter per second, and per transaction if there was any. */
static void watch_add_growth(const struct bn_watched_name *name, double growth, double span_s,
                             double transactions, struct bn_watched *out)
{
  watch_add_figure(out, name->rate, growth / span_s);
  if (name->part != NULL && transactions > 0)
    watch_add_figure(out, name->part, growth / transactions);
}

/* Returns the transactions of a view without those in the grace, which come after the last
   reading. */
static double watch_transactions_of(const struct bn_view *v)
{
  return (double)(v->transactions - v->in_grace);
}

void bn_watched_add_server(const struct bn_watched_name *names, const struct bn_reading *from,
                           const struct bn_reading *to, const struct bn_view *v,
                           struct bn_watched *out)
{
  const double span_s = watch_span_s(from, to), transactions = watch_transactions_of(v);

  for (size_t i = 0; i < BN_READING_MAX; i++) {
    const struct bn_watched_name *name = &names[i];
    const bool is_known = watch_is_known(from, to, i);
    const uint64_t growth = is_known ? watch_growth(from, to, i) : 0;

    if (is_known && name->state != NULL)
      watch_add_figure(out, name->state, (double)to->value[i]);
    else if (growth > 0 && name->rate != NULL)
      watch_add_growth(name, (double)growth, span_s, transactions, out);
  }
}

/* --- figures of several hosts ----------------------------------------------------------------- */

/* Returns whether a name begins with a prefix. */
static bool watch_begins_with(const char *name, const char *prefix)
{
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

bool bn_watched_is_shared(const char *name)
{
  return watch_begins_with(name, BN_WATCHED_SERVER);
}

bool bn_watched_is_valid(const struct bn_watched_figure *f)
{
  const bool has_subject = watch_begins_with(f->name, BN_WATCHED_HOST) ||
                           watch_begins_with(f->name, BN_WATCHED_DEVICE) ||
                           watch_begins_with(f->name, BN_WATCHED_SERVER);

  if (!has_subject)
    return false;
  for (const char *c = f->name; *c != '\0'; c++)
    if (!isalnum((unsigned char)*c) && strchr("_-.", *c) == NULL)
      return false;
  return isfinite(f->value);
}

void bn_watched_pick(const struct bn_view *v, bool shared, struct bn_watched *out)
{
  out->n = 0;
  for (size_t i = 0; i < v->n_watched; i++)
    if (bn_watched_is_shared(v->watched[i].name) == shared)
      watch_add_figure(out, v->watched[i].name, v->watched[i].value);
}

/* Returns whether a figure of that name is one per transaction. */
static bool watch_is_per_transaction(const char *name)
{
  const size_t len = strlen(name), suffix_len = strlen(BN_WATCHED_PER_TRANSACTION);

  return len >= suffix_len && strcmp(name + len - suffix_len, BN_WATCHED_PER_TRANSACTION) == 0;
}

void bn_watched_sum(const struct bn_view *one, const struct bn_view *all, struct bn_watched *out)
{
  const double all_transactions = watch_transactions_of(all);
  const double share =
      all_transactions > 0 ? fmin(watch_transactions_of(one) / all_transactions, 1) : 0;

  bn_watched_pick(one, true /* shared */, out);
  for (size_t i = 0; i < out->n; i++)
    if (watch_is_per_transaction(out->figure[i].name))
      out->figure[i].value *= share;
}

/* --- copies ----------------------------------------------------------------------------------- */

struct bn_watched_figure *bn_watched_copy(const struct bn_watched_figure *from, size_t n)
{
  size_t size = n * sizeof *from;
  struct bn_watched_figure *copy;
  char *name; /* the names follow the figures */

  for (size_t i = 0; i < n; i++)
    size += strlen(from[i].name) + 1;
  copy = bn_alloc(1, size);
  name = (char *)(copy + n);
  for (size_t i = 0; i < n; i++) {
    const size_t len = strlen(from[i].name) + 1; /* with the 0 */

    memcpy(name, from[i].name, len);
    copy[i] = (struct bn_watched_figure){.name = name, .value = from[i].value};
    name += len;
  }
  return copy;
}
