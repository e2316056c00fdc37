/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The private folder of an agent, with the files that the controller has sent.

   A second process, the keeper, removes it when this process has ended in whatever way.  The folder
   stays behind only if both are killed, or this one before it has started the keeper. */
#ifndef BN_HOSTS_TEMP_FOLDER_H
#define BN_HOSTS_TEMP_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "hosts/frame.h"

struct bn_temp_folder {
  char path[PATH_MAX]; /* "" once it has been removed */
  int at;              /* the folder, for openat(2); -1: none */
  int life; /* an end of a pipe; the keeper removes the folder once it is closed; -1: none */
  pid_t keeper;
  bool has_files;
};

/* Makes the folder in $TMPDIR with the mode 0700, and starts the keeper.  Comes before there are
   threads.  Returns 0, or -1 and err; bn_temp_folder_done() follows in both cases. */
int bn_temp_folder_make(struct bn_temp_folder *f, struct bn_err *err);
/* Adds a file that is not there yet.  Returns 0, or -1 and err, which names it. */
int bn_temp_folder_add(struct bn_temp_folder *f, const struct bn_frame_file *file,
                       struct bn_err *err);
/* Has the keeper remove the folder, and waits for that for two seconds at most.  Does nothing if
   there is none. */
void bn_temp_folder_done(struct bn_temp_folder *f);

#endif
