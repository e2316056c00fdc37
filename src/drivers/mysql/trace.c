/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces the calls of the client library. */
#include <stdarg.h>
#include <stdio.h>

#include "drivers/mysql/driver.h"

void bn_mysql_trace_text(const struct bn_mysql *driver, const char *fmt, ...)
{
  enum { LEVEL_DEBUG = 5 };
  char text[4096];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  driver->host->log(LEVEL_DEBUG, text);
}
