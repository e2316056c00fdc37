/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of the SQLite driver, for the module and for the program that reads its command line. */
#ifndef BN_DRIVERS_SQLITE_OPTIONS_H
#define BN_DRIVERS_SQLITE_OPTIONS_H

#include "api/driver.h"

struct bn_sqlite_conf {
  char *db;
  int journal_mode, synchronous; /* indices into the choices below */
  int begin;                     /* index into the choices of --sqlite-begin, for workloads */
  int64_t busy_timeout_ms;
};

extern const char *const bn_sqlite_journal_modes[], *const bn_sqlite_synchronous[];
extern const struct bn_opt bn_sqlite_options[];

#endif
