/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binds the services that sessions may ask for (api/session.h) to the parts of the run. */
#ifndef BN_ENGINE_SERVICES_H
#define BN_ENGINE_SERVICES_H

#include "api/workload.h"
#include "engine/run_state.h"
#include "engine/sessions.h"

void bn_services_bind(struct bn_services *out, struct bn_run_parts *parts,
                      const struct bn_sessions *sessions, const struct bn_workload *ops);

#endif
