/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The watchers of the program. */
#ifndef BN_WATCH_WATCHERS_H
#define BN_WATCH_WATCHERS_H

#include "api/watch.h"
#include "base/clock.h"

/* The longest time that the start of a run waits for a connection that watches a server. */
#define BN_WATCH_PATIENCE_NS (5 * BN_NSEC_PER_SEC)

extern const struct bn_watcher bn_watcher_host;   /* /proc/stat, /proc/meminfo, /proc/net/dev */
extern const struct bn_watcher bn_watcher_device; /* /proc/diskstats */
extern const struct bn_watcher bn_watcher_server; /* SHOW GLOBAL STATUS, pg_stat_… */

#endif
