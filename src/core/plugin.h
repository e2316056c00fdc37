/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules: find, open and check the shared objects of drivers and engines. */
#ifndef BN_CORE_PLUGIN_H
#define BN_CORE_PLUGIN_H

#include <stddef.h>

#include "api/driver.h"
#include "api/ioengine.h"
#include "api/placement.h"
#include "base/err.h"

/* Folder of the program's data ("share/bench") or modules ("lib/bench"), found relative to the
   program itself, so that build tree, installed and moved prefixes all work.  Return buf, or NULL
   and err. */
const char *bn_plugin_data_dir(char *buf, size_t len, struct bn_err *err);
const char *bn_plugin_lib_dir(char *buf, size_t len, struct bn_err *err);

/* Opens lib/bench/drivers/NAME.so (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, never closed) and checks
   ABI and size. NULL and err otherwise; err->code ENOENT: no such module. */
const struct bn_driver *bn_plugin_driver(const char *name, struct bn_err *err);
/* The same for lib/bench/engines/NAME.so and bench_engine. */
const struct bn_ioengine *bn_plugin_engine(const char *name, struct bn_err *err);
/* The same for lib/bench/placements/NAME.so and bench_placement. */
const struct bn_placement *bn_plugin_placement(const char *name, struct bn_err *err);
/* Names of the driver modules present, sorted; fills at most max, returns the count.  Names are
 * strdup'd. */
size_t bn_plugin_driver_names(char **names, size_t max);

#endif
