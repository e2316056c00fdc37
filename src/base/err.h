/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An error as a value: a code and one sentence a user can act on. */
#ifndef BN_BASE_ERR_H
#define BN_BASE_ERR_H

#include <stdarg.h>
#include <stdio.h>

/* The code of a sentence that begins with the name of an option and needs no prefix. */
enum { BN_ERR_OPTION = -1 };

/* The failing function fills it; the caller that reports to the user prints it once.  Header-only,
   so that a driver module needs nothing from the program.  Code 0 with an empty text means "no
   error". */
struct bn_err {
  int code; /* an errno value, BN_ERR_OPTION or 0; never needed to know that something failed */
  char text[512]; /* a full sentence without prefix or newline: "cannot open 'x': No such file …" */
};

/* Sets err to "no error".  This is faster than zeroing the whole text, for the path of events. */
static inline void bn_err_clear(struct bn_err *err)
{
  err->code = 0;
  err->text[0] = '\0';
}

/* Sets the sentence, which is cut to the size of err->text, and returns -1, so that callers can
   `return bn_err_set(…)`.  A NULL err is allowed. */
__attribute__((format(printf, 3, 4))) static inline int bn_err_set(struct bn_err *err, int code,
                                                                   const char *fmt, ...)
{
  va_list ap;

  if (err == NULL)
    return -1;
  err->code = code;
  va_start(ap, fmt);
  (void)vsnprintf(err->text, sizeof err->text, fmt, ap);
  va_end(ap);
  return -1;
}

#endif
