/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A script as a workload. */
#ifndef BN_SCRIPT_API_WORKLOAD_H
#define BN_SCRIPT_API_WORKLOAD_H

#include "api/workload.h"

struct bn_api;

/* Makes the workload before the script is loaded; its functions get api as self. */
void bn_workload_init(struct bn_workload *w, const struct bn_api *api);
/* Sets what depends on the loaded script: whether it has help. */
void bn_workload_complete(struct bn_workload *w, const struct bn_api *api);

#endif
