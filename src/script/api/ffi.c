/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The C functions that internal Lua modules call through ffi.C. */
#include "script/api/ffi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/dist.h"
#include "base/geohist.h"
#include "engine/event.h"
#include "engine/renewal.h"
#include "option/conf.h"
#include "script/api/ffi_hist.h"
#include "script/api/ffi_more.h"
#include "script/api/ffi_rand.h"
#include "script/api/ffi_row.h"
#include "script/api/ffi_workqueue.h"
#include "script/api/instance.h"
#include "sql/sql.h"

bool bn_ffi_event_begin(void)
{
  struct bn_instance *in = bn_instance_current();

  /* The previous event may have been dropped, so this asks anew whether the run goes on. */
  if (!bn_event_more(in->lua.session))
    return false;
  bn_event_start(in->lua.session, &in->tick);
  return true;
}

void bn_ffi_event_end(void)
{
  struct bn_instance *in = bn_instance_current();

  bn_event_end(in->lua.session, &in->tick);
}

bool bn_ffi_event_next(void)
{
  struct bn_instance *in = bn_instance_current();

  bn_event_end(in->lua.session, &in->tick);
  return bn_event_begin(in->lua.session, &in->tick);
}

void bn_ffi_event_drop(void)
{
  struct bn_instance *in = bn_instance_current();

  bn_event_drop(in->lua.session, &in->tick);
}

/* Rolls back the transaction that the event has left open, and waits before the event is repeated.
   Returns false if the event has failed: it may not be tried again after this number of tries. */
static bool ffi_prepare_retry(const struct bn_instance *in, uint32_t tries)
{
  struct bn_sqlsys *sql = in->lua.vm->setup->sql;
  struct bn_session *s = in->lua.session;
  const bool is_in_warmup = in->tick.start_ns < s->stat->counts_from_ns;

  /* After an interruption the event has not failed: the interruption has ended its statement. */
  if (sql == NULL || bn_session_interrupted(s))
    return true;
  return bn_sql_retry(sql, s, tries, !is_in_warmup);
}

int bn_ffi_repeat_event(struct bn_instance *in, uint32_t tries)
{
  struct bn_session *s = in->lua.session;
  const bool takes_work = in->workqueue.role == BN_WORKQUEUE_TAKES;

  if (!ffi_prepare_retry(in, tries)) {
    bn_event_fail(s, &in->tick);
    return -1;
  }
  /* Work that was taken is carried out after the limit of the run too. */
  const bool is_over = takes_work ? bn_session_interrupted(s) : bn_session_over(s);

  if (is_over) {
    bn_event_drop(s, &in->tick);
    return 0;
  }
  bn_event_note_repeat(s);
  return tries < INT32_MAX ? (int)tries + 1 : INT32_MAX;
}

uint32_t bn_ffi_event_again(uint32_t tries)
{
  struct bn_instance *in = bn_instance_current();
  const int next_try = bn_ffi_repeat_event(in, tries);

  if (next_try >= 0)
    return (uint32_t)next_try;
  /* Begins the next event: returns 1, the number of its first try, or 0 at the end. */
  return in->workqueue.role == BN_WORKQUEUE_TAKES ? bn_ffi_workqueue_take() : bn_ffi_event_begin();
}

bool bn_ffi_think(double seconds)
{
  return bn_event_set_pause(bn_instance_session(), (uint64_t)(seconds * 1e9));
}

double bn_ffi_time_left(void)
{
  const struct bn_session *s = bn_instance_session();
  const uint64_t deadline_ns = bn_session_deadline(s);

  if (deadline_ns == UINT64_MAX)
    return HUGE_VAL;
  return (double)bn_clock_between(s->last_ns, deadline_ns) * 1e-9;
}

void bn_ffi_event_start_later(void)
{
  struct bn_instance *in = bn_instance_current();
  struct bn_session *s = in->lua.session;

  /* The two counters differ while an event is in flight. */
  if (in->lua.worker && bn_stat_get(&s->stat->begun) != bn_stat_get(&s->stat->ended))
    bn_event_start_later(s, in->own_event_begun ? &in->own_tick : &in->tick);
}

bool bn_ffi_may_reconnect(void)
{
  return bn_renewal_allow(bn_instance_session());
}

bool bn_ffi_take_renewal(void)
{
  return bn_renewal_take(bn_instance_session());
}

bool bn_ffi_over(void)
{
  return bn_session_over(bn_instance_session());
}

/* Returns the settings of the distributions (--rand-*). */
static const struct bn_dist *ffi_distributions(void)
{
  return &bn_lua_current()->vm->setup->conf->dist;
}

static struct bn_rng *ffi_rng(void)
{
  return &bn_instance_session()->rng;
}

/* Returns the lower of the bounds a and b plus an offset.  The offset may exceed INT64_MAX, so the
   sum is unsigned, which wraps to the right number. */
static double ffi_add_offset(int64_t a, int64_t b, uint64_t offset)
{
  return (double)(int64_t)((uint64_t)(a <= b ? a : b) + offset);
}

/* Returns the distance between two bounds, which may come in either order. */
static uint64_t ffi_distance(int64_t a, int64_t b)
{
  return a <= b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

/* Each case adds the offset itself: one call after the switch would cost 7 instructions more. */
double bn_ffi_rand(int distribution, int64_t a, int64_t b)
{
  const uint64_t width = ffi_distance(a, b);

  switch (distribution) {
  case BN_FFI_UNIFORM:
    return ffi_add_offset(a, b, bn_dist_uniform(ffi_rng(), 0, width));
  case BN_FFI_GAUSSIAN:
    return ffi_add_offset(a, b, bn_dist_gaussian(ffi_distributions(), ffi_rng(), 0, width));
  case BN_FFI_SPECIAL:
    return ffi_add_offset(a, b, bn_dist_special(ffi_distributions(), ffi_rng(), 0, width));
  case BN_FFI_PARETO:
    return ffi_add_offset(a, b, bn_dist_pareto(ffi_distributions(), ffi_rng(), 0, width));
  case BN_FFI_ZIPFIAN:
    return ffi_add_offset(a, b, bn_dist_zipfian(ffi_distributions(), ffi_rng(), 0, width));
  default: /* BN_FFI_DEFAULT */
    return ffi_add_offset(a, b, bn_dist_default(ffi_distributions(), ffi_rng(), 0, width));
  }
}

uint32_t bn_ffi_rand_unique(void)
{
  return bn_unique_next(bn_instance_session()->services->unique);
}

double bn_ffi_rand_uniq(int64_t a, int64_t b)
{
  struct bn_unique *unique = bn_instance_session()->services->unique;

  return ffi_add_offset(a, b, bn_unique_next_up_to(unique, ffi_distance(a, b)));
}

uint64_t bn_ffi_rand_uint64(void)
{
  return bn_rng_next(ffi_rng());
}

double bn_ffi_rand_double(void)
{
  return bn_rng_double(ffi_rng());
}

/* Returns memory for a text of that length, valid until the next call; NULL if no object is that
   large.  The text needs no final 0, because scripts get its length too. */
static char *ffi_reserve_text(size_t len)
{
  struct bn_buf *b = &bn_instance_current()->text;

  bn_buf_clear(b);
  return bn_buf_reserve(b, len) == 0 ? b->data : NULL;
}

const char *bn_ffi_rand_string(const char *fmt, size_t len)
{
  char *out = ffi_reserve_text(len); /* not NULL: there is a template of that length */

  bn_dist_fill_template(ffi_rng(), fmt, len, out);
  return out;
}

const char *bn_ffi_rand_chars(size_t len)
{
  char *out = ffi_reserve_text(len);

  if (out != NULL)
    bn_dist_fill_varchars(ffi_rng(), out, len);
  return out;
}

const char *bn_ffi_rand_text(int kind, uint32_t min, uint32_t max, size_t *len)
{
  *len = (size_t)bn_dist_uniform(ffi_rng(), min, max);
  char *out = ffi_reserve_text(*len); /* not NULL: the length has 32 bits */

  bn_dist_text(ffi_rng(), (enum bn_dist_text)kind, out, *len);
  return out;
}

struct bn_geohist *bn_ffi_hist_new(size_t size, double min, double max)
{
  struct bn_geohist *h = bn_alloc(1, sizeof *h);

  if (bn_geohist_init(h, size, min, max) != 0) {
    free(h);
    return NULL;
  }
  return h;
}

void bn_ffi_hist_free(struct bn_geohist *h)
{
  bn_geohist_done(h);
  free(h);
}

void bn_ffi_hist_update(struct bn_geohist *h, double value)
{
  bn_geohist_update(h, value, 1);
}

char *bn_ffi_hist_text(const struct bn_geohist *h, size_t *len)
{
  char *text = NULL;
  FILE *out = bn_alloc_stream(&text, len);

  /* Values have three decimals, as in sysbench. */
  bn_geohist_print_rows(h, false /* significant */, out);
  bn_alloc_stream_close(out);
  return text;
}

void bn_ffi_free(void *text)
{
  free(text);
}
