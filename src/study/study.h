/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Studies in Lua as subcommands: module study.NAME of the program, or a file of the user. */
#ifndef BN_STUDY_STUDY_H
#define BN_STUDY_STUDY_H

#include "api/opt.h"
#include "api/subcommand.h"
#include "base/err.h"

/* An interpreter with one study; main thread only.  Nothing of it exists in a run. */
struct bn_study;

/* Opens the study that module study.NAME returns.  traits_of returns what this program knows of an
   option; it may be NULL for a study that is not run.  Returns NULL and err after a failure; err is
   empty if a fault of the study has been printed. */
struct bn_study *bn_study_open(const char *name, bn_opt_traits_of *traits_of, struct bn_err *err);
/* Opens, in the same way, the study that a file returns or sets as the global `study`.  Its name as
   a subcommand is "study FILE". */
struct bn_study *bn_study_open_file(const char *path, bn_opt_traits_of *traits_of,
                                    struct bn_err *err);
/* Returns the declaration of the study, without `run`; it lives as long as the study. */
const struct bn_subcommand *bn_study_declaration(const struct bn_study *s);
/* Runs the study with the values and operands that bn_subcommand.run gets.  Returns its exit
   status. */
int bn_study_run(struct bn_study *s, const void *conf, const char *const *operand,
                 struct bn_err *err);
/* Frees a study, which may be NULL, and removes its temporary folder. */
void bn_study_free(struct bn_study *s);

#endif
