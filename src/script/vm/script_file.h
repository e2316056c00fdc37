/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the file that the user means: a bundled workload, a file as typed, a module, or a bundled
   workload in place of an old installation. */
#ifndef BN_SCRIPT_VM_SCRIPT_FILE_H
#define BN_SCRIPT_VM_SCRIPT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct bn_script_setup;

/* The origin of a script. */
enum bn_set {
  BN_SET_USER,   /* not part of this program */
  BN_SET_MODERN, /* the workloads of 1.x */
  BN_SET_LEGACY  /* the workloads of 0.5 */
};

/* The file of a script, and what follows from the folder that it is in. */
struct bn_script_place {
  const char *name; /* name that the user typed, borrowed; NULL: none, or standard input */
  char *file;       /* file of the script; NULL: standard input */
  char *dir;        /* its folder with '/'; NULL: the working directory */
  enum bn_set set;  /* origin of the script */
  bool workload;    /* a script of MODERN that the program lists, not a user's in the same folder */
  bool sent;        /* it comes from another host, as do the modules beside it */
};

/* Finds the file that setup's name means, a module on `path`, and fills *out, which is all zero; it
   stays so for standard input.  Logs when a bundled script takes the place of a missing file.
   Returns 0, or -1 and err. */
int bn_script_file_find(struct bn_script_place *out, const struct bn_script_setup *setup,
                        const char *path, struct bn_err *err);
/* Frees what bn_script_file_find has put into *place. */
void bn_script_file_done(struct bn_script_place *place);
/* Returns the length of `dir` if the file is below that folder, or 0; dir may be NULL. */
size_t bn_script_file_folder_length(const char *file, const char *dir);
/* Returns, malloc'd, the bundled script or module of that name if there is one and `file`, which is
   used in its place, is another file; else NULL. */
char *bn_script_file_find_hidden(const struct bn_script_setup *setup, const char *name,
                                 const char *file);
/* Returns, malloc'd, the file that takes the place of the one of that name, or NULL if there is
   none: a file from another host; or a bundled script for a missing file of an old installation,
   which is logged unless is_quiet. */
char *bn_script_file_find_substitute(const struct bn_script_setup *setup, const char *name,
                                     bool is_quiet);

#endif
