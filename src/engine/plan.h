/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan of a run, as reports show it. */
#ifndef BN_ENGINE_PLAN_H
#define BN_ENGINE_PLAN_H

#include "measure/facts.h"
#include "option/conf.h"

/* Fills the plan, except its metrics and the seed that was drawn. */
void bn_plan_fill(struct bn_plan *p, const struct bn_conf *c);

#endif
