/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What dialects decide, as data: how bench behaves where versions of sysbench differ. */
#ifndef BN_API_POLICY_H
#define BN_API_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "api/opt.h"

/* What happens when an old name of an option is used. */
enum bn_old_option { BN_OLD_OPTION_SILENT, BN_OLD_OPTION_LOGGED, BN_OLD_OPTION_ON_STDERR };

/* One const table per form of bench (dialect/).  A field says what a user of that form sees; false,
   0 and NULL are the common case. */
struct bn_policy {
  /* --- who speaks --- */
  const char *dialect;     /* as --compat names it, "1.0"; NULL: bench's own form */
  const char *program;     /* in messages and by --version: "sysbench" */
  const char *release;     /* by --version: "1.0.20" */
  const char *banner;      /* first line of the output; NULL: program, release and LuaJIT's */
  enum bn_version version; /* whose texts reports have */
  bool own_report;         /* with figures as bench-output(7) defines them, three significant
                              digits in each latency and header lines of our own */

  /* --- options: values and files --- */
  size_t default_at;     /* offset in struct bn_opt of this version's default; `def` where NULL */
  bool loose_values;     /* a value that does not fit is read as sysbench reads it: a number is what
                            the text begins with, out of bounds the nearest bound where the option
                            says so, whole where it says so, a boolean in a file on by any text */
  bool only_on_is_on;    /* of booleans on the command line all but "on" is off */
  bool loose_files;      /* a name in a file is all before '=', an open quote ends the file, and a
                            file that cannot be opened is passed over */
  bool files_set_listed; /* a file sets an option only under a name that this version lists */
  bool defaults_beat_files; /* a file does not set what is declared after it: options of tests */
  bool old_name_with_0_ignored;  /* an old option with a 0 is ignored, even if 0 is out of bounds */
  enum bn_old_option old_option; /* what a deprecated name prints */
  bool files_name_test;          /* a file may name the test; then the only word is the command */
  bool plain_errors;        /* what is wrong with a value is said in sysbench's words, without a
                               hint at what was probably meant, and nothing is said that sysbench
                               does not say (base/log.h: asides) */
  bool fatal_on_stderr;     /* so are ALERT and WARNING, and what many threads say is said once */
  bool general_errors_bare; /* faults of general options have no "FATAL: " */

  /* --- options: general ones --- */
  const char *endless;            /* warning when neither events nor time are limited */
  bool forced_shutdown_of_warmup; /* N% of --forced-shutdown is of limit and warm-up together */
  bool same_seed_each_run;        /* without --rand-init and --rand-seed the seed is 0 */
  bool percentile_from_1;         /* --percentile is at least 1; 0 is no way to have none */
  const char *percentile_name;    /* of that option in its message */

  /* --- command line --- */
  bool words_are_commands;   /* --test names the test, every word is a command and one is needed;
                                --help does nothing, `help` and `version` are commands */
  bool help_in_any_form;     /* -h, -V, `help TEST` and `TEST --help` are understood */
  bool unknown_options_pass; /* built-in tests take options that nobody knows */
  bool unknown_not_exported; /* a name of a file that is unknown to a script is warned of as one
                                that is not exported */
  bool help_skips_files;     /* the help command of a script does not look at names in files */
  const char *lacks_command; /* "'cpu' test does not … the 'prepare' command" */
  bool missing_lists_bare;   /* after a missing required option come option lines, no heading */

  /* --- help --- */
  unsigned listed;             /* bits of bn_opt.in: options that the help lists */
  bool lists_own;              /* the help lists what only bench has, too */
  bool help_has_old_names;     /* an option stands under its old name where the version has that */
  bool help_random_in_general; /* random numbers are among the general options */
  bool lists_are_single;       /* options that take a list now took one value */
  const char *bool_form;       /* of a switch: "[=on|off]" */
  bool help_fits;              /* rows of the help are at most 100 columns wide and have dashes in
                                  the names of options */
  size_t form_width;           /* columns for the form of any value; 0: what it needs */

  /* --- a run --- */
  bool overload_passes;          /* too many events that wait are told of whenever that is seen, and
                                    the run goes on; else the run fails */
  bool queue_ignores_events;     /* the queue in reports has arrivals beyond --events as well */
  bool plain_tests_uncut;        /* tests without numbers of their own have neither checkpoints nor
                                    interval reports */
  bool warmup_event_is_extra;    /* the event in flight at the end of the warm-up comes on top of
                                    --events */
  bool start_counts_too;         /* statements of init and thread_init are in the first report,
                                    though not in the time; a warm-up takes them away */
  bool limits_end_silently;      /* no line says which limit a thread has met */
  bool threads_start_silently;   /* no line says that a thread has started */
  const char *thread_ready;      /* "Worker thread (#0) …" */
  const char *threads_not_ready; /* when a thread fails before the run begins */

  /* --- databases --- */
  bool driver_must_be_named;      /* there is no driver by default */
  bool transactions_are_commits;  /* reports count COMMITs as transactions, not events */
  bool statements_by_first_word;  /* a statement is a read or a write by its first word, not by what
                                     it returns */
  bool query_failures_are_alerts; /* a failed query is told of as ALERT */
  bool failures_told_first;       /* a failure is told of before the hook sql_error_ignorable is
                                     asked about it */
  bool fatal_errors_uncounted;    /* an error that ends a thread is not in the report */
  bool caught_errors_end_run;     /* an SQL error of an event that is not ignored ends the run, even
                                     if the script catches it */
  bool failed_prepares_count;     /* a statement that an event cannot prepare or bind is an error in
                                     the report, as one that fails when it is executed */
  bool miscount_binds_nothing;    /* a wrong number of parameters leaves a statement as it was
                                     bound; of an emulated one, those too many are ignored */
  bool unread_results_block;      /* results that nobody has read are in the way of a statement */
  const char *query_was;          /* "…, query was: …" has this in the place of " was" */
  bool mysql_zero_port;           /* MySQL's port may be 0: the client library's own */
  bool mysql_port_means_tcp;      /* a port that is one of several is reached by TCP, also of the
                                     host "localhost" */
  bool mysql_place_unnamed;       /* a failed connection does not say to which host */
  bool mysql_files_in_folder;     /* keys and certificates are looked for in the working folder */
  bool mysql_traces_rows;         /* --mysql-debug shows first rows, and neither field counts nor
                                     the end of a connection */
  bool mysql_traces_field_count;  /* --mysql-debug shows field counts of prepared statements */
  bool pgsql_whole_errors;        /* an error has all lines of libpq, not the server's sentence */
  bool pgsql_shows_notices;       /* libpq prints notices; the own framing is off */

  /* --- built-in tests --- */
  bool flushes_are_quiet;      /* fileio: flushes are no events, and traced like other requests */
  bool end_flush_after_events; /* fileio: the flush at the end follows --events alone */
  bool mix_per_program;        /* fileio: reads and writes alternate across threads, not in each */
  bool flags_are_number;       /* fileio: --file-extra-flags are shown as a number */
  bool unknown_offset; /* fileio: a wrong checksum is told of without its offset, and the offset is
                          hexadecimal */
  bool no_hint_at_prepare;  /* fileio: a missing file does not remind of prepare */
  const char *byte_unit;    /* fileio: "512B" */
  const char *binary_unit;  /* fileio: "16KiB", without its letter */
  const char *rate_unit;    /* fileio: of what was prepared, "MiB" per second */
  const char *merging_gap;  /* fileio: between "Merging requests" and "up to" */
  bool memory_short_words;  /* memory: blocks are multiples of 4 bytes, the last one of the
                               total is whole, 0 of them are none, and own header lines */
  bool memory_uniform_only; /* memory: random access does not follow --rand-type, and what is
                               written counts down */
  bool mutex_loops_dropped; /* mutex: the empty loop costs nothing */

  /* --- scripts --- */
  const char *script_version;  /* sysbench.version */
  bool old_names_always;       /* the interface of 0.5 is there without being asked for */
  bool old_names_on_demand;    /* … once a script wants it */
  bool thread_run_will_do;     /* a script with its own thread_run() needs no event() */
  bool thread_done_follows;    /* after an error in thread_run, too */
  bool legacy_scripts_first;   /* a bare name is first looked for among the workloads of 0.5 */
  bool panics;                 /* a missing script and an error outside of functions are told of
                                  as a PANIC on stderr, errors name the user's function */
  bool globals_before_script;  /* options are globals before the top level, which may change them */
  bool bare_switch_is_on;      /* a script's switch without a default is on until it is given */
  bool debug_option_is_global; /* --debug takes the place of Lua's library of that name */
};

#endif
