/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The native form of bench, used when no dialect is chosen; finds the dialects by name. */
#include "dialect/dialect.h"

#include <string.h>

const struct bn_policy bn_policy_bench = {
    .program = "bench",
    .release = PACKAGE_VERSION,
    .version = BN_V11,

    .default_at = offsetof(struct bn_opt, def),
    .old_option = BN_OLD_OPTION_ON_STDERR,
    .files_name_test = true,
    .fatal_on_stderr = true,

    .endless = "Both event and time limits are disabled, running an endless test",
    .forced_shutdown_of_warmup = true,
    .percentile_name = "--percentile",

    .help_in_any_form = true,
    .lacks_command = "implement",

    .listed = BN_IN_ALL,
    .lists_own = true,
    .bool_form = "[=on|off]",
    .help_fits = true,

    .thread_ready = "initialized",
    .threads_not_ready = "Threads initialization failed!",

    .caught_errors_end_run = true,
    .failed_prepares_count = true,
    .mysql_port_means_tcp = true,
    .query_was = " was",
    .mysql_traces_field_count = true,

    .byte_unit = "B",
    .binary_unit = "iB",
    .rate_unit = "MiB",
    .merging_gap = " ",

    .script_version = "1.1.0",
    .old_names_on_demand = true,
    .thread_run_will_do = true,
};

const struct bn_policy *const bn_policy_dialects[] = {&bn_policy_11, &bn_policy_10, &bn_policy_05,
                                                      NULL};

const struct bn_policy *bn_policy_find(const char *name)
{
  for (size_t i = 0; bn_policy_dialects[i] != NULL; i++)
    if (strcmp(bn_policy_dialects[i]->dialect, name) == 0)
      return bn_policy_dialects[i];
  return NULL;
}
