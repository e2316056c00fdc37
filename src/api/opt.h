/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The declaration of an option: name, type, defaults, bounds, help, and the place of its value. */
#ifndef BN_API_OPT_H
#define BN_API_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/delay.h"

/* The C type of the value at `offset`:
   BN_BOOL bool; BN_INT int64_t; BN_SIZE uint64_t (bytes); BN_DOUBLE double; BN_STRING and BN_PATH
   char * (owned by the option set; NULL: unset); BN_CHOICE int (index into choices); BN_LIST struct
   bn_list; BN_SECONDS double.  BN_DOUBLE also takes whole numbers with K, M, G or T (1024^n),
   BN_SECONDS numbers with ms, s, m or h. */
enum bn_opt_type {
  BN_BOOL,
  BN_INT,
  BN_SIZE,
  BN_DOUBLE,
  BN_STRING,
  BN_CHOICE,
  BN_LIST,
  BN_PATH,
  BN_SECONDS
};

/* The origin of an option's value. */
enum bn_origin { BN_FROM_DEFAULT, BN_FROM_FILE, BN_FROM_COMMAND_LINE };

/* The value of a BN_LIST; the option set owns the items. */
struct bn_list {
  char **item;
  size_t n;
};

/* Reference versions whose wording, defaults and options bench can use. */
enum bn_version { BN_V05, BN_V10, BN_V11 };

/* Bits for bn_opt.in: the reference versions that have the option. */
enum { BN_IN_05 = 1, BN_IN_10 = 2, BN_IN_11 = 4, BN_IN_1X = 6, BN_IN_ALL = 7 };

/* Bits for bn_opt.traits: facts about an option for code that treats all options alike.  An old
   name has the traits of the option that it stands for.  Result documents have the names of the
   bits, and scripts declare some of them (measure/layout.h). */
enum bn_opt_trait {
  /* For runs on several hosts. */
  BN_OPT_PER_HOST = 1 << 0,        /* the controller gives each host a value of its own */
  BN_OPT_CONTROLLER_ONLY = 1 << 1, /* hosts do not get it as it was typed, or not at all */
  BN_OPT_ONE_RUN = 1 << 14,        /* groups cannot differ in it (--group); documents do not tell */
  /* For readers of results. */
  BN_OPT_OUTPUT_ONLY = 1 << 2,  /* it says where output goes and which messages there are */
  BN_OPT_OBSERVES = 1 << 3,     /* it says how a run is observed, which may cost time */
  BN_OPT_FIGURES_ONLY = 1 << 4, /* it says which figures are computed of the same events */
  BN_OPT_REPEAT_ONLY = 1 << 5,  /* it differs between repeats of the same run */
  BN_OPT_ENDPOINT = 1 << 6,     /* how this process reaches its server and logs in there */
  BN_OPT_PLACE = 1 << 7,        /* where this process has its data: a file or a folder */
  BN_OPT_ADDED = 1 << 8,        /* results that are merged may differ in it: the values add up */
  /* For studies. */
  BN_OPT_KEEPS_DATA = 1 << 9, /* it says what a run does with data, and not which data there are */
  BN_OPT_FIXED = 1 << 10,     /* no sweep varies it */
  BN_OPT_CONNECTS = 1 << 12,  /* connections are made with it, as with each ENDPOINT */
  /* For readers of configuration files. */
  BN_OPT_COMMAND_LINE_ONLY = 1 << 11, /* no file sets it */
  /* Traits that scripts declare; the others are for options that are known before a script is. */
  BN_OPT_OF_SCRIPTS = BN_OPT_OUTPUT_ONLY | BN_OPT_OBSERVES | BN_OPT_FIGURES_ONLY |
                      BN_OPT_REPEAT_ONLY | BN_OPT_ENDPOINT | BN_OPT_PLACE | BN_OPT_ADDED |
                      BN_OPT_KEEPS_DATA,
  /* The option has one value for the whole run, so that no group can set it. */
  BN_OPT_WHOLE_RUN = BN_OPT_ONE_RUN | BN_OPT_CONTROLLER_ONLY | BN_OPT_OUTPUT_ONLY |
                     BN_OPT_OBSERVES | BN_OPT_FIGURES_ONLY | BN_OPT_FIXED,
  /* The option stands in a document of a version that wrote no traits. */
  BN_OPT_UNTOLD = 1 << 13
};

/* A function that returns the traits that this program declares for an option of that name; 0:
   none, or the name is unknown. */
typedef unsigned bn_opt_traits_of(const char *name);

struct bn_opt {
  const char *name; /* "cpu-max-prime"; '-' and '_' match each other */
  enum bn_opt_type type;
  unsigned in;     /* reference versions that list it in their help; 0: native.  Accepted in all */
  unsigned traits; /* enum bn_opt_trait */
  bool hidden;     /* accepted, never listed */
  bool secret; /* the value is a password: it is never shown, and is erased from the command line */
  bool blank;  /* BN_STRING: an empty text is a value and not NULL.  BN_CHOICE: an empty text is the
                  default in dialects */
  bool filled; /* BN_STRING, BN_LIST: an empty text is refused, also if there is no default */
  bool repeat; /* BN_LIST: several --name=… add up; else the last one counts */
  bool verbatim; /* BN_LIST: a value is one item, with the commas in it, but not in a file */
  bool whole; /* sysbench and so its dialects take whole numbers only (scalar: and a single one) */
  bool clamp; /* sysbench takes any number: dialects move it to the nearest bound */
  bool late;  /* BN_INT: sysbench parses the text where it needs the number: in dialects a text that
                 does not fit is BN_OPT_LATE until then */
  bool file;  /* BN_STRING: it names a file, for shells that complete names; BN_PATH always does */
  bool single05;   /* BN_LIST: 0.5 takes one */
  bool as_switch;  /* BN_CHOICE: shown as a switch; scripts see a boolean for words that mean on or
                      off (--mysql-ssl) */
  bool scalar;     /* BN_LIST: scripts see the first item as a number, not a table (--percentile) */
  char letter;     /* letter of an option with a value: "-o VALUE" is "--output=VALUE"; 0: none */
  const char *def; /* default, as a user would type it; NULL: none */
  const char *def10,
      *def05;    /* defaults in the 1.0 and 0.5 dialects; NULL: as def; BN_OPT_NO_DEFAULT: none */
  size_t offset; /* offset of the value in the struct of the owner */
  size_t typed; /* BN_SIZE, BN_INT: offset of a const char * for the text as typed, which stays NULL
                   for the default; 0: none */
  size_t delay; /* BN_STRING: offset of a struct bn_delay that the text describes, "exp:5ms"; 0:
                   none */
  size_t given; /* offset of a bool that says whether the option was given; 0: none */
  int64_t min, max; /* inclusive, BN_INT, BN_SIZE and BN_DOUBLE; both 0: unchecked */
  const char
      *range_text; /* message for a value out of bounds or not among the choices, with one %s for
                      the value as typed: "Invalid value for --threads: %s." (printed as FATAL on
                      stdout); NULL: a generic sentence naming the option and the bounds */
  const char *const *choices; /* BN_CHOICE: NULL-terminated, compared ignoring case */
  const char *const *words;   /* completions for shells where there are no choices: frequent values,
                                 NULL-terminated; other values are valid too */
  const char *form;           /* value part in the help, "=N"; NULL: by type */
  const char *uri_part;       /* part of --connect that sets it: user, password, host, port, path */
  const char *uri_params;     /* parameters of --connect that set it, with ", " between them */
  bool uri_collects;          /* they set it together: NAME='VALUE', with a blank between them */
  const char *replaces;       /* options of the driver in whose place it is used, in this form */
  const char *alias_of;       /* the option that this is a deprecated spelling of */
  const char *deprecated_text; /* warning when an alias is used, without prefix */
  const char *help;            /* one line; the help appends [default] */
};

/* An option and its value, as a record of the run shows it; texts last as long as the call. */
struct bn_opt_fact {
  const char *name;  /* as declared: "mysql-host" */
  const char *group; /* of its table; NULL: no table declares the option, a script reads it */
  enum bn_origin origin;
  unsigned traits;  /* enum bn_opt_trait */
  bool secret;      /* a value, if there is one, is not shown */
  const char *text; /* the value as a user would type it; "" or NULL: none, or a secret */
};

/* No default in that dialect (a macro, so that modules need no symbol). */
#define BN_OPT_NO_DEFAULT "\001"

/* The value of a late option whose text does not fit; the code that needs it refuses the text. */
#define BN_OPT_LATE INT64_MIN

#define BN_OPT_END                                                                                 \
  {                                                                                                \
    .name = NULL                                                                                   \
  }

#endif
