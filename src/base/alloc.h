/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory for small things: these functions return what was asked for, or end the process.

   If there is no memory, bn_alloc_fail says so, has the run printed from its counters, and exits
   with status 1.  Where a size is the user's (buffers, tables, rows), malloc and its like are
   called instead, and the caller reports the error. */
#ifndef BN_BASE_ALLOC_H
#define BN_BASE_ALLOC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Returns n * size zeroed bytes, at least one. */
__attribute__((malloc, returns_nonnull)) void *bn_alloc(size_t n, size_t size);
/* Returns size > 0 zeroed bytes at a multiple of `alignment`, a power of two. */
__attribute__((malloc, returns_nonnull)) void *bn_alloc_aligned(size_t alignment, size_t size);
/* Returns n * size zeroed bytes at a multiple of `alignment`, or NULL if there is no memory for so
   many: n is the user's, and the caller reports the failure. */
__attribute__((malloc)) void *bn_alloc_try_aligned(size_t alignment, size_t n, size_t size);
/* Resizes what bn_alloc returned, or NULL, to n * size bytes, at least one.  New bytes are not
   zeroed. */
__attribute__((returns_nonnull)) void *bn_alloc_resize(void *p, size_t n, size_t size);
/* Returns `array`, which has n elements of that size, perhaps moved, with room for one more.  Only
   this function has allocated it, for one element after another, beginning with NULL and n 0.  Its
   room doubles whenever n is a power of two, so that its capacity need not be kept. */
__attribute__((returns_nonnull)) void *bn_alloc_grow(void *array, size_t n, size_t size);
/* Returns a copy of a text. */
__attribute__((malloc, returns_nonnull)) char *bn_alloc_text(const char *text);
/* As bn_alloc_text, and NULL for NULL. */
__attribute__((malloc)) char *bn_alloc_copy(const char *text);
/* Returns a copy of the first len bytes of a text, or of all of a shorter one. */
__attribute__((malloc, returns_nonnull)) char *bn_alloc_part(const char *text, size_t len);
/* Return the text that printf and vprintf would print. */
__attribute__((malloc, returns_nonnull, format(printf, 1, 2))) char *bn_alloc_print(const char *fmt,
                                                                                    ...);

__attribute__((malloc, returns_nonnull, format(printf, 1, 0))) char *
bn_alloc_vprint(const char *fmt, va_list ap);
/* Opens a stream as open_memstream(3) does. */
__attribute__((returns_nonnull)) FILE *bn_alloc_stream(char **text, size_t *len);
/* Closes such a stream, which sets *text and *len.  Only a lack of memory can make that fail, and
   it ends the process. */
void bn_alloc_stream_close(FILE *out);

/* Says so on standard error and ends the process, because there is no memory.  Any thread. */
__attribute__((noreturn)) void bn_alloc_fail(void);
/* From this call on, bn_alloc_fail calls fn(arg) before it exits.  fn prints what is known,
   and allocates nothing; it may end the process itself.  If fn is NULL, nothing is called any more.
   A call that another thread has begun goes on; bn_alloc_has_failed is then true.  The main
   thread. */
void bn_alloc_before_exit(void (*fn)(void *arg), void *arg);
/* Returns whether one of them has been called.  Any thread. */
bool bn_alloc_has_failed(void);

#endif
