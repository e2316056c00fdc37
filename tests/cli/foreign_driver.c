/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A driver that the program knows nothing of, with one option; it is never connected. */
#include "api/driver.h"

struct foreign_conf {
  int64_t speed;
};

static const struct bn_opt foreign_options[] = {{.name = "foreign-speed",
                                                 .type = BN_INT,
                                                 .def = "7",
                                                 .offset = offsetof(struct foreign_conf, speed),
                                                 .min = 1,
                                                 .max = 9,
                                                 .help = "speed"},
                                                BN_OPT_END};

const struct bn_driver bench_driver = {.abi = BN_DRIVER_ABI,
                                       .size = sizeof(struct bn_driver),
                                       .name = "foreign",
                                       .title = "foreign driver",
                                       .options = foreign_options,
                                       .conf_size = sizeof(struct foreign_conf)};
