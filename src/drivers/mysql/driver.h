/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The MySQL driver's process-wide state: only init and done write it, all files read it. */
#ifndef BN_DRIVERS_MYSQL_DRIVER_H
#define BN_DRIVERS_MYSQL_DRIVER_H

#include "api/driver.h"
#include "drivers/mysql/defaults.h"
#include "drivers/mysql/options.h"

struct bn_names;

struct bn_mysql {
  const struct bn_mysql_conf *conf;
  const struct bn_driver_host *host;
  struct bn_mysql_defaults file;
  /* Chosen from options, files, prompt or environment; NULL: the client library chooses. */
  const char *user;
  char *password;
  /* The options' lists, or the single entry of the file. */
  const struct bn_list *hosts, *sockets;
  struct bn_list file_host, file_socket;
  unsigned *port;
  size_t n_ports;
  struct bn_names *names;
  int ssl; /* BN_MYSQL_SSL_DISABLED to BN_MYSQL_SSL_VERIFY_IDENTITY */
};

extern const struct bn_sql_question bn_mysql_questions[];

enum { BN_MYSQL_LEVEL_DEBUG = 5 }; /* that of base/log.h, which a module does not include */

/* Shows a call for --mysql-debug, never with a password; lib/library.c. */
__attribute__((format(printf, 2, 3))) void bn_mysql_trace_text(const struct bn_mysql *driver,
                                                               const char *fmt, ...);
/* Does nothing, and does not evaluate its arguments, without --mysql-debug. */
#define bn_mysql_trace(driver, ...)                                                                \
  do {                                                                                             \
    if (__builtin_expect((driver)->conf->debug, 0))                                                \
      bn_mysql_trace_text(driver, __VA_ARGS__);                                                    \
  } while (0)

#endif
