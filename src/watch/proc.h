/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses texts of /proc about the host: pure, for texts of any content that end with a 0. */
#ifndef BN_WATCH_PROC_H
#define BN_WATCH_PROC_H

#include <stdint.h>

#include "measure/watch.h"

/* Each sets the counts that it finds, by enum bn_host_count, and leaves the others unchanged. */
void bn_proc_stat(const char *text, uint64_t value[BN_HOST_COUNTS]);
void bn_proc_meminfo(const char *text, uint64_t value[BN_HOST_COUNTS]);
void bn_proc_net(const char *text, uint64_t value[BN_HOST_COUNTS]);

#endif
