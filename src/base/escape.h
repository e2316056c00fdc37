/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of others (a server, a file) in a form that a terminal only shows. */
#ifndef BN_BASE_ESCAPE_H
#define BN_BASE_ESCAPE_H

#include <stddef.h>

#include "base/err.h"

/* Copies `text` to `out` and writes these bytes as "\x1b": control characters (C0, DEL and C1), the
   characters that separate lines or change the direction of text (U+2028, U+2029, U+202A to U+202E,
   U+2066 to U+2069), and whatever is not UTF-8.  Bytes of `keep`, such as "\n\t", stay as they are.
   As snprintf: `out` gets at most size - 1 bytes and a 0, and never a part of a character or of an
   escape.  Returns the length of the whole, which is that of `text` if nothing was escaped.
   size 0: `out` may be NULL. */
size_t bn_escape(char *out, size_t size, const char *text, const char *keep);

/* The same for messages, which need not be UTF-8 as documents have to be: "\n", "\t" and bytes from
   0xa0 on that are not UTF-8 stay as they are.  Those are letters in other encodings, and no
   terminal obeys them. */
size_t bn_escape_message(char *out, size_t size, const char *text);
/* A message of any length, which the caller frees; NULL: out of memory. */
char *bn_escape_copy(const char *text);
/* The same as bn_escape() with nothing kept, and a backslash before each character that Markdown
   would read as a mark.  size: at least 1. */
void bn_escape_markdown(char *out, size_t size, const char *text);
/* A sentence that may quote a file or the name of one, as bn_escape().  NULL: nothing to do. */
void bn_escape_error(struct bn_err *err);

#endif
