/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of the null driver. */
#include "drivers/null/options.h"

const struct bn_opt bn_null_options[] = {
    {.name = "null-rows",
     .type = BN_INT,
     .def = "1",
     .offset = offsetof(struct bn_null_conf, rows),
     .min = 0,
     .max = 1000000000,
     .help = "rows that every query of the null driver returns"},
    {.name = "null-latency",
     .type = BN_STRING,
     .traits = BN_OPT_KEEPS_DATA,
     .def = "0",
     .offset = offsetof(struct bn_null_conf, latency),
     .delay = offsetof(struct bn_null_conf, delay),
     .form = "=DIST",
     .help = "time that every statement of the null driver takes"},
    BN_OPT_END,
};
