/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client library's start and end, in the process and in each thread. */
#include <signal.h>

#include "drivers/mysql/driver.h"
#include "drivers/mysql/lib/lib.h"

/* Both libraries ignore SIGPIPE for the whole process; it is restored, because bench needs it to
   learn that nobody reads its output any more. */
static int init_library(void)
{
  struct sigaction before;
  const int known = sigaction(SIGPIPE, NULL, &before);
  const int rc = mysql_library_init(0, NULL, NULL);

  if (known == 0)
    (void)sigaction(SIGPIPE, &before, NULL);
  return rc;
}

int bn_mysql_lib_start(const struct bn_mysql *driver)
{
  bn_mysql_trace(driver, "mysql_library_init(0, (nil), (nil))");
  if (init_library() != 0)
    return -1;
  bn_mysql_lib_init();
  return 0;
}

void bn_mysql_lib_end(void)
{
  mysql_library_end();
}

int bn_mysql_lib_thread_start(const struct bn_mysql *driver)
{
  const bool failed = mysql_thread_init();

  if (!driver->host->policy->mysql_traces_rows)
    bn_mysql_trace(driver, "mysql_thread_init() = %d", failed);
  return failed ? -1 : 0;
}

void bn_mysql_lib_thread_end(const struct bn_mysql *driver)
{
  if (!driver->host->policy->mysql_traces_rows)
    bn_mysql_trace(driver, "mysql_thread_end()");
  mysql_thread_end();
}
