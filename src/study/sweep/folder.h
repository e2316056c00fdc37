/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The folder of a sweep, and which of its runs are done.

     DIR/study.json      what is varied and run, and in which order; written before the first run
     DIR/runs/0001.json  the result of run 1; .txt: its standard output; .err: its standard error
     DIR/data.json       which data are prepared; with --prepare
     DIR/table.json, DIR/table.csv

   study.json, version 1:

     {"format": "bench sweep", "version": 1, "seed": N,
      "settings": {"program": TEXT,   the version
                   "command": [TEXT], without secrets
                   "vary": [TEXT],    "threads=1,2,4"
                   "repeat": N, "warmup": S, "cooldown": S, "prepare": BOOL, "cleanup": BOOL,
                   "data": [TEXT],    with --prepare: the options that change the data
                   "stop-when": TEXT or null},
      "order": [N]}                   the points of runs 1, 2, …; from 0, the first option changes
                                      slowest

   Each file is whole or not there.  A run is done if its result can be read and says that the run
   ended with exit status 0. */
#ifndef BN_STUDY_FOLDER_H
#define BN_STUDY_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/store.h"
#include "base/err.h"
#include "measure/store.h"

/* All zero but `open`, which is -1, is none. */
struct bn_folder {
  const char *path; /* borrowed */
  int open;         /* the folder, locked */
};

/* -1: err says why no folder of that name can be used. */
int bn_folder_check(const char *path, struct bn_err *err);
/* Makes a folder unless it is there; -1 and err. */
int bn_folder_make(const char *path, struct bn_err *err);
/* Makes what is not there, and locks it.  The name is checked.  -1: err says why it cannot be used.
 */
int bn_folder_open(struct bn_folder *f, const char *path, struct bn_err *err);
void bn_folder_close(struct bn_folder *f);

/* "DIR/table.csv", "DIR/runs/0007.json"; run: from 0.  Return out. */
const char *bn_folder_file(const struct bn_folder *f, const char *name, char out[PATH_MAX]);
const char *bn_folder_run(const struct bn_folder *f, size_t run, const char *suffix,
                          char out[PATH_MAX]);
/* "runs/0007.json" */
enum { BN_FOLDER_RUN = 40 };
const char *bn_folder_run_name(size_t run, const char *suffix, char out[BN_FOLDER_RUN]);

/* 1: *out is the document of that name, the caller's; 0: there is none; -1: err. */
int bn_folder_read(const struct bn_folder *f, const struct bn_store *js, const char *name,
                   struct bn_node **out, struct bn_err *err);
/* Takes the document over.  NULL is told as out of memory. */
int bn_folder_write(const struct bn_folder *f, const struct bn_store *js, const char *name,
                    struct bn_node *document, struct bn_err *err);
/* Forgets a document. */
void bn_folder_remove(const struct bn_folder *f, const char *name);

/* The result of a run that is done; false: it is not.  The caller releases it either way. */
bool bn_folder_result(const struct bn_folder *f, const struct bn_store *js, size_t run,
                      struct bn_stored *out);

/* Standard error that has nothing is of no use. */
void bn_folder_drop_empty(const char *path);
/* What the standard error of a failed child says: the first FATAL line, or else the last one.  "":
   it says nothing.  Escaped for a terminal. */
void bn_folder_quote(const char *path, char *out, size_t size);

#endif
