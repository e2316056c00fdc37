/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The built-in workloads, for the registry. */
#ifndef BN_TESTS_TESTS_H
#define BN_TESTS_TESTS_H

#include "api/workload.h"

extern const struct bn_workload bn_workload_cpu, bn_workload_fileio, bn_workload_memory,
    bn_workload_mutex, bn_workload_threads;

#endif
