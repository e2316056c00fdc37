/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses texts of /proc about the host: pure, for texts of any content that end with a 0. */
#ifndef BN_WATCH_PROC_H
#define BN_WATCH_PROC_H

#include <stdint.h>

#include "measure/watch.h"

/* These parse /proc/stat, /proc/meminfo and /proc/net/dev.  Each sets the counts that it finds, by
   enum bn_host_count, and leaves the others unchanged.  The counts of the network are sums of all
   interfaces but the loopback, which has a count of its own. */
void bn_proc_parse_stat(const char *text, uint64_t value[BN_HOST_COUNTS]);
void bn_proc_parse_meminfo(const char *text, uint64_t value[BN_HOST_COUNTS]);
void bn_proc_parse_net(const char *text, uint64_t value[BN_HOST_COUNTS]);

#endif
