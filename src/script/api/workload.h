/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A script as a workload. */
#ifndef BN_SCRIPT_API_WORKLOAD_H
#define BN_SCRIPT_API_WORKLOAD_H

#include "api/workload.h"

struct bn_api;

/* The workload runs with self = api. */
void bn_workload_fill(struct bn_workload *w, const struct bn_api *api);
/* Sets what depends on the loaded script. */
void bn_workload_complete(struct bn_workload *w, const struct bn_api *api);

#endif
