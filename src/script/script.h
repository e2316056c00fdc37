/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lua scripts as workloads, for the composition root. */
#ifndef BN_SCRIPT_SCRIPT_H
#define BN_SCRIPT_SCRIPT_H

#include <stdbool.h>

#include "api/report.h"
#include "api/workload.h"
#include "base/err.h"
#include "script/setup.h"

struct bn_script;

/* Makes a script with its workload and its reporter, so that a run can be made for them, but reads
   and executes nothing yet: the top level of a script may already need random numbers or a database
   of the run.  setup's pointers outlive the script. */
struct bn_script *bn_script_new(const struct bn_script_setup *setup);
/* Sets the session of the main instance.  The session is borrowed until bn_script_detach or the
   next call. */
void bn_script_attach(struct bn_script *sc, struct bn_session *main_session);
/* Finds the script (bn_script_file_find), creates the main interpreter and executes the top level.
   Returns 0, or -1 and err, which is all zero before.  Its text is empty if the reason has been
   logged; its code is ENOENT if there is no such script, and ENODATA if none is named and standard
   input has none. */
int bn_script_load(struct bn_script *sc, struct bn_err *err);
/* Reads sysbench.cmdline.options and adds the options to the option set (group "NAME options"),
   which applies the values of the command line.  Called if there is a command, before the settings
   of the run are checked.  Sets *accepts_any if the script declares no options and takes every
   unknown one as a text.  Returns 0, or -1 and err, whose text is empty if the reason has been
   logged. */
int bn_script_read_options(struct bn_script *sc, bool *accepts_any, struct bn_err *err);
/* Returns, after bn_script_read_options, whether the script has set defaults of general options, so
   that the run has to be made anew. */
bool bn_script_has_run_defaults(const struct bn_script *sc);
/* Exports sysbench.opt (and the option globals of old scripts) once all options are settled.
   Returns 0, or -1 after logging why. */
int bn_script_export_options(struct bn_script *sc);
/* Return the workload to run, and its self.  find_command finds the script's commands. */
const struct bn_workload *bn_script_workload(const struct bn_script *sc);
void *bn_script_self(struct bn_script *sc);
/* Returns, after bn_script_load, the metrics of the workload and those that the script has
   declared, or NULL if it has declared none. */
const struct bn_metric *bn_script_metrics(const struct bn_script *sc);
/* Returns the reporter of the script's hooks, and its conf.  bn_script_load sets which reports the
   hooks replace.  Both live as long as the script. */
const struct bn_reporter *bn_script_reporter(struct bn_script *sc, const void **conf);
/* Closes the main interpreter, whose objects must not outlive the session.  May be called twice. */
void bn_script_detach(struct bn_script *sc);
/* Frees a script, which may be NULL, and its main interpreter. */
void bn_script_free(struct bn_script *sc);

/* Returns the version of LuaJIT for the banner, such as "2.1.0-beta3". */
const char *bn_script_luajit_version(void);

#endif
