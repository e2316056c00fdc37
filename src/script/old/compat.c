/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Old names in ffi.C, each of which calls a function that internal modules use. */
#include "script/old/compat.h"

#include <string.h>

#include "base/dist.h"
#include "base/geohist.h"
#include "base/log.h"
#include "engine/event.h"
#include "script/api/ffi_hist.h"
#include "script/api/ffi_rand.h"
#include "script/api/instance.h"

/* The header does not declare this function, because scripts that use it do so themselves. */
BN_API void sb_counter_inc(int thread_id, sb_counter_type type);

bool sb_more_events(int thread_id)
{
  (void)thread_id;
  return bn_event_more(bn_instance_session());
}

/* Starts an event at the present time, and not at the end of the previous event, because a script's
   own loop spends time between events.  An event that was started before and not stopped is not
   counted, but as in sysbench it has used up one of --events. */
void sb_event_start(int thread_id)
{
  struct bn_instance *in = bn_instance_current();

  (void)thread_id;
  if (in->own_event_begun)
    bn_event_forget(in->lua.session, &in->own_tick);
  bn_event_start_now(in->lua.session, &in->own_tick);
  in->own_event_begun = true;
}

void sb_event_stop(int thread_id)
{
  struct bn_instance *in = bn_instance_current();

  (void)thread_id;
  /* A stop without a start would count an event that never was. */
  if (!in->own_event_begun)
    return;
  bn_event_end(in->lua.session, &in->own_tick);
  in->own_event_begun = false;
}

void sb_counter_inc(int thread_id, sb_counter_type type)
{
  (void)thread_id;
  if ((unsigned)type < SB_CNT_MAX) /* a script may pass any number */
    bn_stat_count(bn_instance_session()->stat, (unsigned)type, 1);
}

uint32_t sb_rand_default(uint32_t a, uint32_t b)
{
  return (uint32_t)bn_ffi_rand(BN_FFI_DEFAULT, a, b);
}

uint32_t sb_rand_uniform(uint32_t a, uint32_t b)
{
  return (uint32_t)bn_ffi_rand(BN_FFI_UNIFORM, a, b);
}

uint32_t sb_rand_gaussian(uint32_t a, uint32_t b)
{
  return (uint32_t)bn_ffi_rand(BN_FFI_GAUSSIAN, a, b);
}

uint32_t sb_rand_special(uint32_t a, uint32_t b)
{
  return (uint32_t)bn_ffi_rand(BN_FFI_SPECIAL, a, b);
}

uint32_t sb_rand_pareto(uint32_t a, uint32_t b)
{
  return (uint32_t)bn_ffi_rand(BN_FFI_PARETO, a, b);
}

uint32_t sb_rand_zipfian(uint32_t a, uint32_t b)
{
  return (uint32_t)bn_ffi_rand(BN_FFI_ZIPFIAN, a, b);
}

uint32_t sb_rand_unique(void)
{
  return bn_ffi_rand_unique();
}

uint64_t sb_rand_uniform_uint64(void)
{
  return bn_ffi_rand_uint64();
}

double sb_rand_uniform_double(void)
{
  return bn_ffi_rand_double();
}

void sb_rand_str(const char *fmt, char *buf)
{
  if (fmt == NULL || buf == NULL) {
    bn_log(BN_ALERT, "sb_rand_str: the format or the buffer is nil");
    return;
  }
  const size_t len = strlen(fmt);

  bn_dist_fill_template(&bn_instance_session()->rng, fmt, len, buf);
  buf[len] = '\0';
}

uint32_t sb_rand_varstr(char *buf, uint32_t min_len, uint32_t max_len)
{
  if (buf == NULL) {
    bn_log(BN_ALERT, "sb_rand_varstr: the buffer is nil");
    return 0;
  }
  const uint32_t len = sb_rand_uniform(min_len, max_len);

  bn_dist_fill_varchars(&bn_instance_session()->rng, buf, len);
  return len;
}

sb_histogram_t *sb_histogram_new(size_t size, double min, double max)
{
  return bn_ffi_hist_new(size, min, max);
}

/* If the histogram is nil, which a script may pass for any pointer, logs that and returns true;
   else returns false. */
static bool compat_refuse_nil(const sb_histogram_t *h, const char *function)
{
  if (h != NULL)
    return false;
  bn_log(BN_ALERT, "%s: the histogram is nil", function);
  return true;
}

void sb_histogram_delete(sb_histogram_t *h)
{
  if (!compat_refuse_nil(h, __func__))
    bn_ffi_hist_free(h);
}

void sb_histogram_update(sb_histogram_t *h, double value)
{
  if (!compat_refuse_nil(h, __func__))
    bn_ffi_hist_update(h, value);
}

void sb_histogram_print(sb_histogram_t *h)
{
  size_t len = 0;

  if (compat_refuse_nil(h, __func__))
    return;
  char *text = bn_ffi_hist_text(h, &len);

  bn_log(BN_NOTICE, "%s", text);
  bn_ffi_free(text);
}
