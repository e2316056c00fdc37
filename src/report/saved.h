/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommand `report`: prints results that were saved. */
#ifndef BN_REPORT_SAVED_H
#define BN_REPORT_SAVED_H

#include "api/opt.h"
#include "base/err.h"
#include "measure/store.h"

/* The values of bn_saved_options. */
struct bn_saved_conf {
  int format;            /* index into the choices of --format */
  uint64_t document_max; /* bytes of a document that is read */
};

extern const struct bn_opt bn_saved_options[];

/* Logs how many lines of a journal were left out because they cannot be read, and why the first of
   them; also where the reading ended early, and why.  Logs nothing if the whole file was read.
   path: the name of the file. */
void bn_saved_warn_skipped(const char *path, const struct bn_skipped_lines *skipped);
/* Implements `run` of struct bn_subcommand.  conf: struct bn_saved_conf; operand: the files, and a
   NULL.  Returns EXIT_SUCCESS, or EXIT_FAILURE and err. */
int bn_saved_run(const void *conf, const char *const *operand, struct bn_err *err);

#endif
