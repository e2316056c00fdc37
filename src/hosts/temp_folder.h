/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The private folder of an agent: the files that the controller sent.

   A second process, the keeper, removes it when this process has gone, however it went.  Only who
   kills both leaves it behind. */
#ifndef BN_HOSTS_TEMP_FOLDER_H
#define BN_HOSTS_TEMP_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "hosts/frame.h"

enum { BN_TEMP_FOLDER_FILES = 4096, BN_TEMP_FOLDER_BYTES = 256 << 20 };

struct bn_temp_folder {
  char path[PATH_MAX]; /* "" once it has been removed */
  int at;              /* the folder, for openat(2); -1: none */
  int life;            /* the keeper reads its end of this pipe; -1: there is no keeper */
  pid_t keeper;
  unsigned files;
  uint64_t bytes;
};

/* Starts the keeper, which closes all other descriptors and makes the folder in $TMPDIR with the
   rights 0700.  Before there are threads.  0, or -1 and err; bn_temp_folder_done() in both
   cases. */
int bn_temp_folder_make(struct bn_temp_folder *f, struct bn_err *err);
/* Adds a file that is not there yet.  -1: err names it. */
int bn_temp_folder_add(struct bn_temp_folder *f, const struct bn_frame_file *file,
                       struct bn_err *err);
/* Whether a file of that name has been added. */
bool bn_temp_folder_has(const struct bn_temp_folder *f, const char *name);
/* Has it removed, and waits for that for some seconds at most. */
void bn_temp_folder_done(struct bn_temp_folder *f);

#endif
