/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growable byte buffer with a stated maximum. */
#ifndef BN_BASE_BUF_H
#define BN_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* data[len] is '\0' once something was added.  A struct that is all zero but for max is an empty
   buffer.  If max is 0, the length has no limit, and the process ends if there is no memory.  A
   failed call leaves the content unchanged, and all further calls fail too until bn_buf_clear, so
   that no text lacks a part in its middle. */
struct bn_buf {
  char *data; /* owned; NULL while nothing was added */
  size_t len, cap, max;
  bool failed;
};

void bn_buf_init(struct bn_buf *b, size_t max);
/* Frees the memory.  The buffer is empty and usable afterwards. */
void bn_buf_done(struct bn_buf *b);
/* Overwrites the content, which may hold a password, and frees it as bn_buf_done. */
void bn_buf_wipe(struct bn_buf *b);
/* Empties the buffer and keeps its memory for reuse. */
void bn_buf_clear(struct bn_buf *b);
/* Makes room for `more` bytes.  This function and those that add return 0, or -1 if the content
   would exceed max, or if there is no memory for a buffer with a maximum. */
int bn_buf_reserve(struct bn_buf *b, size_t more);
int bn_buf_add(struct bn_buf *b, const void *data, size_t len);
int bn_buf_str(struct bn_buf *b, const char *s);
int bn_buf_char(struct bn_buf *b, char c);
__attribute__((format(printf, 2, 3))) int bn_buf_printf(struct bn_buf *b, const char *fmt, ...);
/* Adds the data in Base64 (RFC 4648) with padding, on one line. */
int bn_buf_base64(struct bn_buf *b, const void *data, size_t len);
/* Drops the first *consumed bytes, which the caller no longer needs, and sets *consumed to 0; does
   nothing while they are less than half of the content, so that each byte moves at most once on
   average.  The memory that becomes unused is overwritten. */
void bn_buf_shift(struct bn_buf *b, size_t *consumed);
/* Returns the NUL-terminated text, which the caller frees with free(), or NULL if a call failed.  b
   is empty and usable afterwards in either case. */
char *bn_buf_take(struct bn_buf *b);

#endif
