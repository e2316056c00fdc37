/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of sysbench that scripts call through ffi.C; declared to Lua like ffi.h.  No other code
   uses them. */
#ifndef BN_SCRIPT_OLD_COMPAT_H
#define BN_SCRIPT_OLD_COMPAT_H

#include "script/api/ffi.h"

typedef enum {
  SB_CNT_OTHER,
  SB_CNT_READ,
  SB_CNT_WRITE,
  SB_CNT_TRX,
  SB_CNT_ERROR,
  SB_CNT_RECONNECT,
  SB_CNT_BYTES_READ,
  SB_CNT_BYTES_WRITTEN,
  SB_CNT_MAX
} sb_counter_type;

/* These mark the events of a script's own loop.  The session is that of the calling thread,
   whatever its number. */
BN_API bool sb_more_events(int thread_id);
BN_API void sb_event_start(int thread_id);
BN_API void sb_event_stop(int thread_id);

/* These return a number in [a, b] of the distribution. */
BN_API uint32_t sb_rand_default(uint32_t a, uint32_t b);
BN_API uint32_t sb_rand_uniform(uint32_t a, uint32_t b);
BN_API uint32_t sb_rand_gaussian(uint32_t a, uint32_t b);
BN_API uint32_t sb_rand_special(uint32_t a, uint32_t b);
BN_API uint32_t sb_rand_pareto(uint32_t a, uint32_t b);
BN_API uint32_t sb_rand_zipfian(uint32_t a, uint32_t b);
/* These return what the functions of ffi_rand.h return. */
BN_API uint32_t sb_rand_unique(void);
BN_API uint64_t sb_rand_uniform_uint64(void);
BN_API double sb_rand_uniform_double(void);
/* Fills buf from a template, in which '#' is a digit and '@' a letter, and ends it with a zero
   byte. */
BN_API void sb_rand_str(const char *fmt, char *buf);
/* Fills buf with min_len to max_len characters, without a zero byte.  Returns their number. */
BN_API uint32_t sb_rand_varstr(char *buf, uint32_t min_len, uint32_t max_len);

/* The functions of ffi_hist.h.  A nil is logged and has no effect, as in sb_rand_str and
   sb_rand_varstr. */
typedef struct bn_geohist sb_histogram_t;
BN_API sb_histogram_t *sb_histogram_new(size_t size, double min, double max);
BN_API void sb_histogram_delete(sb_histogram_t *h);
BN_API void sb_histogram_update(sb_histogram_t *h, double value);
BN_API void sb_histogram_print(sb_histogram_t *h);

typedef enum {
  SB_ARG_TYPE_NULL,
  SB_ARG_TYPE_BOOL,
  SB_ARG_TYPE_INT,
  SB_ARG_TYPE_SIZE,
  SB_ARG_TYPE_DOUBLE,
  SB_ARG_TYPE_STRING,
  SB_ARG_TYPE_LIST,
  SB_ARG_TYPE_FILE,
  SB_ARG_TYPE_MAX
} sb_arg_type_t;
typedef bool sb_opt_validate_t(const char *name, const char *value);
typedef struct {
  const char *name;
  const char *desc;
  const char *value;
  sb_arg_type_t type;
  sb_opt_validate_t *validate;
} sb_arg_t;

#endif
