/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of the SQLite driver. */
#include "drivers/sqlite/options.h"

const char *const bn_sqlite_journal_modes[] = {"wal",    "delete", "truncate", "persist",
                                               "memory", "off",    NULL};
const char *const bn_sqlite_synchronous[] = {"off", "normal", "full", "extra", NULL};
static const char *const begins[] = {"deferred", "immediate", NULL};

const struct bn_opt bn_sqlite_options[] = {
    {.name = "sqlite-db",
     .type = BN_PATH,
     .traits = BN_OPT_PLACE | BN_OPT_CONNECTS,
     .def = "sbtest.sqlite",
     .offset = offsetof(struct bn_sqlite_conf, db),
     .form = "=FILE",
     .help = "database file, which prepare makes"},
    {.name = "sqlite-journal-mode",
     .type = BN_CHOICE,
     .traits = BN_OPT_CONNECTS,
     .def = "wal",
     .offset = offsetof(struct bn_sqlite_conf, journal_mode),
     .choices = bn_sqlite_journal_modes,
     .help = "journal: wal, delete, truncate, persist, memory, off"},
    {.name = "sqlite-synchronous",
     .type = BN_CHOICE,
     .traits = BN_OPT_CONNECTS,
     .def = "normal",
     .offset = offsetof(struct bn_sqlite_conf, synchronous),
     .choices = bn_sqlite_synchronous,
     .help = "waits for the disk: off, normal, full, extra"},
    {.name = "sqlite-busy-timeout",
     .type = BN_INT,
     .traits = BN_OPT_CONNECTS,
     .def = "5000",
     .offset = offsetof(struct bn_sqlite_conf, busy_timeout_ms),
     .min = 0,
     .max = INT32_MAX,
     .help = "milliseconds to wait for a lock of another process"},
    {.name = "sqlite-begin",
     .type = BN_CHOICE,
     .def = "immediate",
     .offset = offsetof(struct bn_sqlite_conf, begin),
     .choices = begins,
     .help = "start of write transactions: deferred, immediate"},
    BN_OPT_END,
};
