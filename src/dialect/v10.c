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
};
