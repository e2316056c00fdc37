/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Studies in Lua as subcommands: module study.NAME of the program, or a file of the user. */
#ifndef BN_STUDY_STUDY_H
#define BN_STUDY_STUDY_H

#include "api/opt.h"
#include "api/subcommand.h"
#include "base/err.h"

/* An interpreter with one study; main thread only. */
struct bn_study;

/* traits_of: what this program knows of options; NULL: nothing.  NULL: err says why there is no
   study; if it is empty, a fault of the study has been printed. */
struct bn_study *bn_study_open(const char *name, bn_opt_traits_of *traits_of, struct bn_err *err);
/* The file sets the global `study`; its name as a subcommand is "study FILE". */
struct bn_study *bn_study_open_file(const char *path, bn_opt_traits_of *traits_of,
                                    struct bn_err *err);
/* Its declaration, without `run`. */
const struct bn_subcommand *bn_study_declaration(const struct bn_study *s);
/* Runs the study as bn_subcommand.run does. */
int bn_study_run(struct bn_study *s, const void *conf, const char *const *operand,
                 struct bn_err *err);
/* NULL is allowed. */
void bn_study_free(struct bn_study *s);

#endif
