/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from outside (a server, a file) in a form that a terminal only displays, or a shell only
   takes as a word. */
#ifndef BN_BASE_ESCAPE_H
#define BN_BASE_ESCAPE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* The most characters that a byte has when it is escaped, as in "\x1b". */
enum { BN_ESCAPED = 4 };

/* Copies `text` to `out` and writes these bytes as "\x1b": control characters (C0, DEL and C1),
   characters that separate lines or change the direction of text (U+2028, U+2029, U+202A to U+202E,
   U+2066 to U+2069), and bytes that are not UTF-8.  Bytes of `keep`, such as "\n\t", are copied as
   they are.  `out` gets at most size - 1 bytes and a 0, as with snprintf, and never a part of a
   character or of an escape.  Returns the untruncated length, which is that of `text` if nothing
   was escaped.  If size is 0, `out` may be NULL. */
size_t bn_escape(char *out, size_t size, const char *text, const char *keep);
/* As bn_escape() for a text of any length: returns the escaped copy, which the caller frees. */
char *bn_escape_new(const char *text, const char *keep);

/* As bn_escape for messages, which need not be UTF-8 as documents must: "\n", "\t" and bytes from
   0xa0 on that are not UTF-8 are copied as they are.  Such bytes are letters in other encodings,
   and no terminal obeys them. */
size_t bn_escape_message(char *out, size_t size, const char *text);
/* Returns a copy of a message of any length, escaped as by bn_escape_message.  The caller frees
   it. */
char *bn_escape_copy(const char *text);
/* As bn_escape() with nothing kept, and puts a backslash before each character that Markdown would
   read as a mark.  A text that may not fit when each character gets a backslash is cut.  size is at
   least 1. */
void bn_escape_markdown(char *out, size_t size, const char *text);
/* Appends a text in quotes, as one word of a shell.  Returns 0, or -1 if it does not fit. */
int bn_escape_shell_word(struct bn_buf *b, const char *text);
/* Escapes a sentence that may quote a file or its name, as bn_escape().  err may be NULL. */
void bn_escape_error(struct bn_err *err);

#endif
