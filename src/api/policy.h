/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The decisions of dialects, as data: how bench behaves where versions of sysbench differ. */
#ifndef BN_API_POLICY_H
#define BN_API_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "api/opt.h"

/* The reaction to an old name of an option. */
enum bn_old_option { BN_OLD_OPTION_SILENT, BN_OLD_OPTION_LOGGED, BN_OLD_OPTION_ON_STDERR };

/* A const table per form of bench (dialect/).  A field describes the behaviour of that form; false,
   0 and NULL are the common case. */
struct bn_policy {
  /* --- who speaks --- */
  const char *dialect;     /* name for --compat, "1.0"; NULL: the native form, whose reports have
                              the figures of bench-output(7), three significant digits in each
                              latency, and header lines of their own */
  const char *program;     /* name in messages and by --version: "sysbench" */
  const char *release;     /* release by --version: "1.0.20" */
  const char *banner;      /* first line of the output; NULL: program, release and LuaJIT's */
  enum bn_version version; /* the version whose texts reports have */

  /* --- options: values and files --- */
  size_t default_at;  /* offset in struct bn_opt of this version's default; `def` where NULL */
  bool loose_values;  /* a value that does not fit is read as in sysbench: the number at its start,
                         and where the option says so the nearest bound or as whole; a boolean in a
                         file is on for any text */
  bool only_on_is_on; /* booleans on the command line are off unless the text is "on" */
  bool loose_files;   /* a name in a file ends at '=', an open quote ends the file, and a file that
                         cannot be opened is skipped */
  bool files_set_listed;    /* a file sets an option only under a name that this version lists */
  bool defaults_beat_files; /* a file sets no options that are declared later: those of tests */
  bool old_name_with_0_ignored;  /* an old option with a 0 is ignored, even if 0 is out of bounds */
  enum bn_old_option old_option; /* reaction to a deprecated name */
  bool files_name_test;          /* a file may name the test; then the only word is the command */
  bool plain_errors; /* errors in values have sysbench's words, without a suggestion, and messages
                        that sysbench does not have are not printed (base/log.h: asides) */
  bool fatal_on_stderr;     /* FATAL, ALERT, WARNING go to stderr, once for all threads */
  bool general_errors_bare; /* faults of general options have no "FATAL: " */

  /* --- options: general ones --- */
  const char *endless;            /* warning when neither events nor time are limited */
  bool forced_shutdown_of_warmup; /* N% of --forced-shutdown covers limit and warm-up together */
  bool same_seed_each_run;        /* without --rand-init and --rand-seed the seed is 0 */
  bool percentile_from_1;         /* --percentile is at least 1; 0 does not turn it off */
  const char *percentile_name;    /* name of that option in its message */

  /* --- command line --- */
  bool words_are_commands;   /* --test names the test, every word is a command and one is needed;
                                --help does nothing, `help` and `version` are commands */
  bool help_in_any_form;     /* -h, -V, `help TEST` and `TEST --help` are understood */
  bool unknown_options_pass; /* built-in tests accept unknown options */
  bool unknown_not_exported; /* a name in a file unknown to a script is reported as not exported */
  bool help_skips_files;     /* the help command of a script ignores names in files */
  const char *lacks_command; /* "'cpu' test does not … the 'prepare' command" */
  bool missing_lists_bare; /* after a missing required option come option lines without a heading */

  /* --- help --- */
  unsigned listed;             /* bits of bn_opt.in: options that the help lists */
  bool lists_own;              /* the help lists the options that only bench has, too */
  bool help_has_old_names;     /* an option stands under its old name where the version has that */
  bool help_random_in_general; /* random numbers are among the general options */
  bool lists_are_single;       /* options that take a list now took a single value */
  const char *bool_form;       /* form of a switch: "[=on|off]" */
  bool help_fits;              /* rows of the help are at most 100 columns wide and have dashes in
                                  the names of options */
  size_t form_width;           /* columns for the form of a value; 0: as needed */

  /* --- a run --- */
  bool overload_passes; /* too many waiting events cause a message each time, and the run goes on;
                           else the run fails */
  bool queue_ignores_events;  /* the queue in reports includes arrivals beyond --events */
  bool plain_tests_uncut;     /* tests without numbers of their own have neither checkpoints nor
                                 interval reports */
  bool warmup_event_is_extra; /* the event in flight when the warm-up ends is not one of --events */
  bool start_counts_too; /* statements of init and thread_init are in the first report, but not in
                            its time; a warm-up removes them */
  bool limits_end_silently;      /* no message names the limit that a thread has met */
  bool threads_start_silently;   /* no message reports the start of a thread */
  const char *thread_ready;      /* "Worker thread (#0) …" */
  const char *threads_not_ready; /* message when a thread fails before the run begins */

  /* --- databases --- */
  bool driver_must_be_named;      /* there is no driver by default */
  bool transactions_are_commits;  /* reports count COMMITs as transactions, not events */
  bool statements_by_first_word;  /* a statement is classified as read or write by its first word
                                     instead of its result */
  bool query_failures_are_alerts; /* a failed query is an ALERT */
  bool failures_told_first; /* a failure is logged before the hook sql_error_ignorable is called */
  bool fatal_errors_uncounted; /* an error that ends a thread is not in the report */
  bool caught_errors_end_run;  /* an SQL error of an event that is not ignored ends the run, even if
                                  the script catches it */
  bool failed_prepares_count;  /* a statement that cannot be prepared or bound in an event is an
                                  error in the report, as if it had failed in execution */
  bool miscount_binds_nothing; /* a wrong number of parameters leaves the binding of a statement
                                  unchanged; for an emulated one, extra parameters are ignored */
  bool unread_results_block;   /* unread results make the next statement fail */
  const char *query_was;       /* text for " was" in "…, query was: …" */
  bool mysql_zero_port;        /* MySQL's port may be 0: the client library's own */
  bool mysql_port_means_tcp;   /* a port out of several is reached by TCP, even on "localhost" */
  bool mysql_place_unnamed;    /* the message of a failed connection does not name the host */
  bool mysql_files_in_folder;  /* keys and certificates are searched in the working folder */
  bool mysql_traces_as_05; /* --mysql-debug: first rows, no field counts, no end of connections */
  bool mysql_traces_field_count; /* --mysql-debug shows field counts of prepared statements */
  bool pgsql_whole_errors;  /* an error has all lines of libpq instead of the server's sentence */
  bool pgsql_shows_notices; /* libpq prints notices; the own framing is off */

  /* --- built-in tests --- */
  bool flushes_are_quiet;      /* fileio: flushes are no events, and traced like other requests */
  bool end_flush_after_events; /* fileio: the flush at the end follows --events alone */
  bool mix_per_program; /* fileio: reads and writes alternate over all threads instead of in each */
  bool flags_are_number; /* fileio: --file-extra-flags are shown as a number */
  bool unknown_offset; /* fileio: a wrong checksum is told of without its offset, and the offset is
                          hexadecimal */
  bool writes_zeros;   /* fileio: blocks are zeros, and --validate does not look first whether
                          prepare has written checksums */
  bool no_hint_at_prepare;  /* fileio: the message about a missing file does not mention prepare */
  const char *byte_unit;    /* fileio: "512B" */
  const char *binary_unit;  /* fileio: "16KiB", without its letter */
  const char *rate_unit;    /* fileio: unit of the rate of prepare, "MiB" per second */
  const char *merging_gap;  /* fileio: text between "Merging requests" and "up to" */
  bool memory_short_words;  /* memory: blocks are multiples of 4 bytes, the last block of the total
                               is complete, a total of 0 has no block, and header lines differ */
  bool memory_uniform_only; /* memory: random access ignores --rand-type; written values fall */
  bool mutex_loops_dropped; /* mutex: the empty loop costs nothing */

  /* --- scripts --- */
  const char *script_version; /* sysbench.version */
  bool free_results_is_bool;  /* db_free_results() of ffi.C returns true if it has freed them */
  bool old_names_always;      /* the interface of 0.5 always exists */
  bool old_names_on_demand;   /* the interface of 0.5 exists once a script uses it */
  bool thread_run_will_do;    /* a script with its own thread_run() needs no event() */
  bool thread_done_follows;   /* thread_done is called after an error in thread_run, too */
  bool legacy_scripts_first;  /* names without a path are searched in the workloads of 0.5 first */
  bool panics; /* a missing script and an error outside of functions are reported as a PANIC on
                  stderr, and errors name the user's function */
  bool globals_before_script;  /* options are globals before the top level, which may change them */
  bool bare_switch_is_on;      /* a script's switch without a default is on until it is given */
  bool debug_option_is_global; /* --debug takes the place of Lua's library of that name */
};

/* Returns whether this is bench's own form and no dialect. */
static inline bool bn_policy_is_native(const struct bn_policy *p)
{
  return p->dialect == NULL;
}

#endif
