/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the host has room for the threads and files of a run. */
#ifndef BN_ENGINE_ROOM_H
#define BN_ENGINE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Raises the soft limit on open files to what so many sessions may need, if the hard one allows. */
void bn_room_allow_files(unsigned sessions);
/* Tells on standard error what the host allows too few of; false: the threads cannot be started.
   connects: each session needs a connection. */
bool bn_room_check(unsigned sessions, uint64_t stack_bytes, bool connects);
/* err says that a thread could not be started: adds the limit that was met. */
void bn_room_explain(struct bn_err *err, unsigned sessions, uint64_t stack_bytes);
/* A session has failed: tells if the process has as many files open as it may. */
void bn_room_tell_files(unsigned sessions);

#endif
