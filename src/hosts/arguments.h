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

/* The command line of the controller, and what has been read from it.  Everything is borrowed, and
   outlives the struct bn_arguments that is made of it. */
struct bn_arguments_input {
  char *const *args; /* as they were typed, with the program's name; ends with NULL; has secrets */
  const char *test, *command;
  bool is_bundled;                    /* the test is built in, or a bundled script */
  const struct bn_group_list *groups; /* NULL: the run has none */
  const struct bn_group_words *group; /* whose command line is made; NULL: that of all hosts */
  bool is_here; /* the agent is a process here: it reads the files itself, and has its own work */
  const struct bn_optset *options;
  uint64_t seed;       /* of the random numbers of all hosts; 0: each host draws its own */
  uint64_t profile_ns; /* the time limit if a profile outside of the groups sets it; 0: none does */
  uint64_t interval_ns; /* the time between two reports of a host; 0: it sends no intervals */
};

struct bn_arguments {
  struct bn_arguments_input from;
  struct bn_list words; /* owned: the test and the options that are the same for all hosts */
  size_t n_outside;     /* of a group: how many of the first words stand outside of the groups */
  struct bn_buf files;  /* owned: the frames FILE for the hosts; may hold secrets */
  size_t n_files;       /* how many frames there are */
};

/* Makes the words that all hosts get, and reads the files for them.  Returns 0, or -1 and err,
   which says which file cannot be read or which option cannot be used with several hosts; *a is
   then empty. */
int bn_arguments_make(struct bn_arguments *a, const struct bn_arguments_input *from,
                      struct bn_err *err);
/* Stores the command line of one host in *out, which the caller frees: the words, the part of the
   work unless it is that of a group here, and the command. */
void bn_arguments_make_argv(const struct bn_arguments *a, const struct bn_work_split *work,
                            struct bn_list *out);
/* Clears what may be secret, and frees all. */
void bn_arguments_done(struct bn_arguments *a);

#endif
