/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands in for mutex_ck.c where Concurrency Kit is absent. */
#include "tests/mutex_type.h"

const struct bn_mutex_type bn_mutex_types_ck[] = {{.name = NULL}};
