/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line that repeats a run, from its facts. */
#ifndef BN_REPORT_COMMAND_H
#define BN_REPORT_COMMAND_H

#include "base/buf.h"
#include "measure/facts.h"

/* Appends the command as words of a shell, with the options that were set and the seed.  It has no
   passwords, and no options that say where output goes.  `out` has no limit.  Returns false, and
   appends nothing, if the facts do not name the workload or its options. */
bool bn_command_append(const struct bn_facts *f, struct bn_buf *out);

#endif
