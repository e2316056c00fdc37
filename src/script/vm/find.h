/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which file the user means: as typed, a module, or one of ours in place of an old installation. */
#ifndef BN_SCRIPT_VM_FIND_H
#define BN_SCRIPT_VM_FIND_H

#include <stdbool.h>

#include "base/err.h"

struct bn_script_setup;

/* Where a script comes from. */
enum bn_set {
  BN_SET_USER,   /* not with this program */
  BN_SET_MODERN, /* the workloads of 1.x */
  BN_SET_LEGACY  /* those of 0.5 */
};

struct bn_place {
  char *file;      /* the script's; NULL: standard input */
  char *dir;       /* its folder with '/'; NULL: the working directory */
  enum bn_set set; /* of which the script is one */
  bool workload;   /* one of MODERN that the program lists, not a user's in the same folder */
  bool sent;       /* it is of another host, and so are the modules beside it */
};

/* Finds the file that setup's name means, modules on `path`; says on stderr when a bundled script
   takes the place of one that does not exist.  0, or -1 and err. */
int bn_find(struct bn_place *out, const struct bn_script_setup *setup, const char *path,
            struct bn_err *err);
void bn_find_done(struct bn_place *p);
/* The file that takes the place of a name, malloc'd, or NULL: one of another host, or, as users
   name files of old installations, ours in the place of one that does not exist; says so on stderr
   unless quiet. */
char *bn_find_instead(const struct bn_script_setup *setup, const char *name, bool quiet);

#endif
