/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The I/O engines: a new one gets its name here, and a module or a row. */
#include "tests/fileio/engines.h"

#include <stddef.h>
#include <string.h>

#include "base/plugin.h"

const char *const bn_fileio_io_modes[] = {[BN_IO_SYNC] = "sync",
                                          [BN_IO_ASYNC] = "async",
                                          [BN_IO_MMAP] = "mmap",
                                          [BN_IO_URING] = "io_uring",
                                          NULL};

/* Engines of the program; the others are modules, because they need libraries. */
static const struct bn_ioengine *const engines[] = {&bn_engine_sync, &bn_engine_mmap};

const struct bn_ioengine *bn_fileio_find_engine(const char *name, struct bn_err *err)
{
  static const struct bn_plugin_kind kind = BN_ENGINE_KIND;
  const void *module;

  for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
    if (strcmp(engines[i]->name, name) == 0)
      return engines[i];
  module = bn_plugin_open(&kind, name, err);
  if (module == NULL)
    (void)bn_plugin_advise(err, strcmp(name, "async") == 0 ? "libaio-dev" : "liburing-dev",
                           "file-io-mode");
  return module;
}
