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
  bool plain_errors;        /* what is wrong with a value is said in sysbench's words, without a
                               hint at what was probably meant */
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
  size_t form_width;           /* columns for the form of any value; 0: what it needs */
};

#endif
