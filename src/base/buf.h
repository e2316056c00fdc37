/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growable byte buffer with a stated maximum. */
#ifndef BN_BASE_BUF_H
#define BN_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

/* data[len] is always '\0' once something was added.  All zero but max is a valid empty buffer; max
   0: no limit.  After a failed call the content is unchanged and every further one fails too, until
   bn_buf_clear: a text never lacks its middle. */
struct bn_buf {
  char *data; /* owned; NULL while nothing was added */
  size_t len, cap, max;
  _Bool failed;
};

void bn_buf_init(struct bn_buf *b, size_t max);
void bn_buf_done(struct bn_buf *b);
void bn_buf_clear(struct bn_buf *b); /* keeps the memory */
/* 0, or -1: out of memory or over max. */
int bn_buf_reserve(struct bn_buf *b, size_t more);
int bn_buf_add(struct bn_buf *b, const void *data, size_t len);
int bn_buf_str(struct bn_buf *b, const char *s);
int bn_buf_char(struct bn_buf *b, char c);
__attribute__((format(printf, 2, 3))) int bn_buf_printf(struct bn_buf *b, const char *fmt, ...);
/* Removes the *gone bytes at the beginning once they are half of all, and sets *gone to 0: each
   byte moves once at most on average.  What stays behind in memory is wiped. */
void bn_buf_shift(struct bn_buf *b, size_t *gone);
/* Hands the NUL-terminated text over to the caller (free with free()); NULL if failed.  b is empty
   and usable afterwards in either case. */
char *bn_buf_take(struct bn_buf *b);

#endif
