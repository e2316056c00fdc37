/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of bulk inserts for Lua, with random values from a stream of their own, and random texts for
   statements; module sysbench.row declares this header. */
#ifndef BN_SCRIPT_API_FFI_ROW_H
#define BN_SCRIPT_API_FFI_ROW_H

#include "script/api/ffi.h"

typedef struct sql_row_text sql_row_text;

/* Returns an empty row, which bn_ffi_row_free frees.  The seed and the number of the stream, whole
   numbers of at least 0, decide the random values. */
BN_API sql_row_text *bn_ffi_row_new(double seed, double stream);
BN_API void bn_ffi_row_free(sql_row_text *row);
/* Returns an integer in [a, b], which is not added to the row. */
BN_API double bn_ffi_row_uniform(sql_row_text *row, int64_t a, int64_t b);
/* Adds NULL. */
BN_API void bn_ffi_row_null(sql_row_text *row);
/* Adds the number n / 10^decimals; there are at most 18 decimals. */
BN_API void bn_ffi_row_number(sql_row_text *row, int64_t n, uint32_t decimals);
/* Adds a quoted text.  Returns false, and adds nothing, for a text that databases read in different
   ways. */
BN_API bool bn_ffi_row_text(sql_row_text *row, const char *text, size_t len);
/* Adds a text of `min` to `max` random characters of a kind of enum bn_dist_text.  If `len` is not
   0, the word, which has at most `min` characters, stands at a random place among them. */
BN_API void bn_ffi_row_random(sql_row_text *row, int kind, uint32_t min, uint32_t max,
                              const char *word, size_t len);
/* Ends the row.  Returns its text, such as "(1,'a')", and its length; the text is valid until the
   next value begins another row. */
BN_API const char *bn_ffi_row_end(sql_row_text *row, size_t *len);

/* Returns a text of `min` to `max` characters of a kind of enum bn_dist_text, from the session's
   stream, and its length.  The text is valid until the next call for a text of that stream. */
BN_API const char *bn_ffi_rand_text(int kind, uint32_t min, uint32_t max, size_t *len);

#endif
