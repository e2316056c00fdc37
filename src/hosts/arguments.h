/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line for the agents of a run, and the files that it needs. */
#ifndef BN_HOSTS_ARGUMENTS_H
#define BN_HOSTS_ARGUMENTS_H

#include <stdbool.h>

#include "api/opt.h"
#include "base/buf.h"
#include "base/err.h"
#include "hosts/groups.h"
#include "hosts/work_split.h"
#include "option/opt.h"

/* A command line as it was typed, and what was understood of it.  Everything is borrowed. */
struct bn_arguments_from {
  char *const *args; /* with the program's name, ends with NULL; may hold secrets */
  const char *test, *command;
  bool is_bundled;                    /* the test is built in, or a bundled script */
  const struct bn_group_list *groups; /* NULL: the run has none */
  const struct bn_group_words *group; /* whose command line is made, in place of that of hosts */
  const struct bn_optset *options;
  uint64_t seed;        /* of the random numbers of all hosts; 0: each draws its own */
  uint64_t time_ns;     /* the limit of time of all groups; 0: none */
  uint64_t interval_ns; /* after which hosts send what they have measured; 0: they do not */
};

struct bn_arguments {
  const struct bn_arguments_from *from;
  struct bn_list words; /* owned: the test and the options that are the same for all hosts */
  struct bn_buf files;  /* frames */
  size_t n_files;
};

/* Reads the files.  -1: err says which cannot be read, or which option hosts cannot have. */
int bn_arguments_make(struct bn_arguments *a, const struct bn_arguments_from *from,
                      struct bn_err *err);
/* The command line of one host: the words, its part of the work, and the command. */
void bn_arguments_argv(const struct bn_arguments *a, const struct bn_work_split *work,
                       struct bn_list *out);
void bn_arguments_done(struct bn_arguments *a);

#endif
