/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dialect of sysbench 0.5. */
#include "dialect/dialect.h"

const struct bn_policy bn_policy_05 = {
    .dialect = "0.5",
    .program = "sysbench",
    .release = "0.5",
    .banner = "sysbench 0.5:  multi-threaded system evaluation benchmark",
    .version = BN_V05,

    .default_at = offsetof(struct bn_opt, def05),
    .loose_values = true,
    .only_on_is_on = true,
    .loose_files = true,
    .files_set_listed = true,
    .old_option = BN_OLD_OPTION_SILENT,
    .plain_errors = true,
    .general_errors_bare = true,

    .endless = "Both max-requests and max-time are 0, running endless test",
    .same_seed_each_run = true,
    .percentile_from_1 = true,
    .percentile_name = "percentile option",

    .words_are_commands = true,
    .unknown_options_pass = true,
    .help_skips_files = true,
    .lacks_command = "have",
    .missing_lists_bare = true,

    .listed = BN_IN_05,
    .help_has_old_names = true,
    .help_random_in_general = true,
    .lists_are_single = true,
    .bool_form = "=[on|off]",
    .form_width = 8,
};
