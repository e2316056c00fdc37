/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One option's declaration: name, type, defaults, bounds, help, and where its value goes. */
#ifndef BN_API_OPT_H
#define BN_API_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Where an option's value came from. */
enum bn_origin { BN_FROM_DEFAULT, BN_FROM_FILE, BN_FROM_COMMAND_LINE };

struct bn_list { /* owned by the option set */
  char **item;
  size_t n;
};

/* Reference versions whose wording, defaults and options we speak. */
enum bn_version { BN_V05, BN_V10, BN_V11 };

/* Bits for bn_opt.in: which reference versions have the option. */
enum { BN_IN_05 = 1, BN_IN_10 = 2, BN_IN_11 = 4, BN_IN_1X = 6, BN_IN_ALL = 7 };

struct bn_opt {
  const char *name; /* "cpu-max-prime"; '-' and '_' match each other */
  enum bn_opt_type type;
  unsigned in; /* reference versions that list it in their help; 0: bench's own.  Accepted in all */
  bool hidden; /* accepted, never listed */
  bool secret; /* the value is a password: it is never shown, and is erased from the command line */
  bool blank;  /* BN_STRING: an empty text that was given is one, and not NULL.  BN_CHOICE: it is
                  the default in sysbench, and so in its dialects */
  bool repeat; /* BN_LIST: several --name=… add up; else the last one wins */
  bool whole;  /* sysbench takes whole numbers only (scalar: and one): so do its dialects */
  bool clamp;  /* sysbench takes any number: out of bounds, its dialects take the nearest bound */
  bool late;   /* BN_INT: sysbench looks at the text where it needs the number, if it does: in its
                  dialects what does not fit is BN_OPT_LATE until then */
  bool file;   /* BN_STRING: it names a file, for shells that complete names; BN_PATH always does */
  bool single05; /* BN_LIST: 0.5 takes one */
  bool scalar;   /* BN_LIST: scripts see the first item as a number, not a table (--percentile) */
  char letter; /* of a subcommand's option with a value: "-o VALUE" is "--output=VALUE"; 0: none */
  const char *def;           /* default, as a user would type it; NULL: none */
  const char *def10, *def05; /* default in the 1.0 and 0.5 dialects; NULL: the same;
                                BN_OPT_NO_DEFAULT: none */
  size_t offset;             /* of the value in the owner's struct */
  size_t typed;     /* BN_SIZE, BN_INT: of a const char * there for the text as typed, which
                       stays NULL for the default; 0: none */
  size_t given;     /* of a bool there that says whether the option was given; 0: none */
  int64_t min, max; /* inclusive, BN_INT, BN_SIZE and BN_DOUBLE; both 0: unchecked */
  const char
      *range_text; /* message for a value out of bounds or not among the choices, with one %s for
                      the value as typed: "Invalid value for --threads: %s." (printed as FATAL on
                      stdout); NULL: a generic sentence naming the option and the bounds */
  const char *const *choices;  /* BN_CHOICE: NULL-terminated, compared ignoring case */
  const char *const *words;    /* what shells offer where there are no choices: values it often has,
                                  NULL-terminated; it takes others too */
  const char *form;            /* value part in the help, "=N"; NULL: by type */
  const char *alias_of;        /* deprecated spelling of that option; a value > 0 beats it */
  const char *deprecated_text; /* warning when an alias is used, without prefix */
  const char *help;            /* one line; the help appends [default] */
};

/* For def10 and def05: this dialect has no default (a macro, so that modules need no symbol). */
#define BN_OPT_NO_DEFAULT "\001"

/* The value of a late option whose text does not fit: whoever needs it refuses the text. */
#define BN_OPT_LATE INT64_MIN

#define BN_OPT_END                                                                                 \
  {                                                                                                \
    .name = NULL                                                                                   \
  }

#endif
