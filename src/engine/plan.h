/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a configuration asks for, as reports show it. */
#ifndef BN_ENGINE_PLAN_H
#define BN_ENGINE_PLAN_H

#include "measure/facts.h"
#include "option/conf.h"

/* Without the metrics, and without the seed that was drawn. */
void bn_plan_fill(struct bn_plan *p, const struct bn_conf *c);

#endif
