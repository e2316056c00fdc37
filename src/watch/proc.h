/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what /proc says of the host: pure, of texts of any content that end with a 0. */
#ifndef BN_WATCH_PROC_H
#define BN_WATCH_PROC_H

#include <stdint.h>

#include "measure/watch.h"

/* Each sets what it finds, by enum bn_host_count, and leaves the rest as it is. */
void bn_proc_stat(const char *text, uint64_t value[BN_HOST_COUNTS]);
void bn_proc_meminfo(const char *text, uint64_t value[BN_HOST_COUNTS]);
void bn_proc_net(const char *text, uint64_t value[BN_HOST_COUNTS]);

#endif
