/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The forms of bench: the native one, which is used when no dialect is chosen, and the dialects. */
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
    .files_name_test = true,
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

    .overload_passes = true,
    .queue_ignores_events = true,
    .plain_tests_uncut = true,
    .limits_end_silently = true,
    .threads_start_silently = true,
    .thread_ready = "started!",
    .threads_not_ready = "Thread initialization failed!",

    .driver_must_be_named = true,
    .transactions_are_commits = true,
    .statements_by_first_word = true,
    .query_failures_are_alerts = true,
    .fatal_errors_uncounted = true,
    .failures_told_first = true,
    .unread_results_block = true,
    .query_was = "",
    .mysql_zero_port = true,
    .mysql_place_unnamed = true,
    .mysql_files_in_folder = true,
    .mysql_traces_as_05 = true,
    .pgsql_whole_errors = true,
    .pgsql_shows_notices = true,

    .flushes_are_quiet = true,
    .end_flush_after_events = true,
    .mix_per_program = true,
    .flags_are_number = true,
    .unknown_offset = true,
    .no_hint_at_prepare = true,
    .writes_zeros = true,
    .byte_unit = "b",
    .binary_unit = "b",
    .rate_unit = "MB",
    .merging_gap = "  ",
    .memory_short_words = true,
    .memory_uniform_only = true,
    .mutex_loops_dropped = true,

    .script_version = "0.5",
    .globals_before_script = true,
    .bare_switch_is_on = true,
    .old_names_always = true,
    .thread_done_follows = true,
    .legacy_scripts_first = true,
    .panics = true,
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
