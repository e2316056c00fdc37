/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dialect of sysbench 1.0. */
#include "dialect/dialect.h"

const struct bn_policy bn_policy_10 = {
    .dialect = "1.0",
    .program = "sysbench",
    .release = "1.0.20",
    .version = BN_V10,

    .default_at = offsetof(struct bn_opt, def10),
    .loose_values = true,
    .loose_files = true,
    .defaults_beat_files = true,
    .old_name_with_0_ignored = true,
    .old_option = BN_OLD_OPTION_LOGGED,
    .plain_errors = true,

    .endless = "Both event and time limits are disabled, running an endless test",
    .percentile_name = "--percentile",

    .unknown_not_exported = true,
    .help_skips_files = true,
    .lacks_command = "implement",

    .listed = BN_IN_10,
    .bool_form = "[=on|off]",

    .thread_ready = "initialized",
    .queue_ignores_events = true,
    .start_counts_too = true,
    .threads_not_ready = "Thread initialization failed!",

    .failures_told_first = true,
    .miscount_binds_nothing = true,
    .unread_results_block = true,
    .query_was = " was",
    .mysql_files_in_folder = true,

    .mix_per_program = true,
    .writes_zeros = true,
    .byte_unit = "B",
    .binary_unit = "iB",
    .rate_unit = "MiB",
    .merging_gap = " ",
    .memory_uniform_only = true,

    .script_version = "1.0.20",
    .bare_switch_is_on = true,
    .old_names_always = true,
    .debug_option_is_global = true,
};
