/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dialect of sysbench 1.1. */
#include "dialect/dialect.h"

const struct bn_policy bn_policy_11 = {
    .dialect = "1.1",
    .program = "sysbench",
    .release = "1.1.0",
    .version = BN_V11,

    .default_at = offsetof(struct bn_opt, def),
    .loose_values = true,
    .loose_files = true,
    .defaults_beat_files = true,
    .old_option = BN_OLD_OPTION_ON_STDERR,
    .plain_errors = true,

    .endless = "Both event and time limits are disabled, running an endless test",
    .forced_shutdown_of_warmup = true,
    .percentile_name = "--percentile",

    .unknown_not_exported = true,
    .help_skips_files = true,
    .lacks_command = "implement",

    .listed = BN_IN_11,
    .bool_form = "[=on|off]",

    .warmup_event_is_extra = true,
    .thread_ready = "initialized",
    .queue_ignores_events = true,
    .start_counts_too = true,
    .threads_not_ready = "Threads initialization failed!",

    .failures_told_first = true,
    .unread_results_block = true,
    .query_was = " was",
    .mysql_traces_field_count = true,

    .writes_zeros = true,
    .byte_unit = "B",
    .binary_unit = "iB",
    .rate_unit = "MiB",
    .merging_gap = " ",

    .script_version = "1.1.0",
    .free_results_is_bool = true,
    .bare_switch_is_on = true,
};
