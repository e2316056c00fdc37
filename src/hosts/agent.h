/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `bench --agent`: an ordinary run whose command line and files come from a controller, and whose
   results go there.

   One thread, the listener, does all that concerns the streams: it answers PING at once, hands
   START and STOP to the run, and sends the frames that others put into the send queue.  If its
   input ends or brings nothing for 8 s, if the controller reads no more, or if what comes is no
   stream of frames, it stops the run; the process ends within 2 s then, if need be without the run.
   Standard output of the process is its standard error, standard input is empty: scripts disturb no
   frame.
 */
#ifndef BN_HOSTS_AGENT_H
#define BN_HOSTS_AGENT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "engine/host_group.h"
#include "hosts/send_queue.h"

struct bn_agent;

/* Returns whether these are the arguments of an agent. */
bool bn_agent_is_wanted(int argc, char *const *argv);

/* All functions below: the main thread. */

/* Takes the streams, makes the folder, and returns once the controller has sent OPEN.  Before there
   are threads, and before anything is printed.  -1: it will not come; err, if it has a sentence, is
   for the user, and otherwise the controller has been told.  bn_agent_free() in both cases. */
int bn_agent_open(struct bn_agent **out, const char *version, struct bn_err *err);
/* The command line of the run, with the program's name; ends with NULL. */
int bn_agent_argc(const struct bn_agent *a);
char **bn_agent_argv(struct bn_agent *a);
/* The folder of the files that the controller has sent; NULL: it has sent none.  a: may be NULL. */
const char *bn_agent_folder(const struct bn_agent *a);
/* Asks the controller whether it has the same script; `folder` as of bn_source_print().  Returns
   false if the controller is lost, which it is if it has another one.  Any thread. */
bool bn_agent_compare(void *agent, const char *file, size_t folder, const void *text, size_t len);
/* Returns whether this is the first host of the run.  a NULL: it is the only one. */
bool bn_agent_is_first(const struct bn_agent *a);
/* Returns what its run is a part of; NULL for no agent. */
const struct bn_host_group *bn_agent_group(const struct bn_agent *a);
/* The stream into which a reporter writes the document of the run; who opens reports closes it. */
FILE *bn_agent_document(struct bn_agent *a);
/* Sends that document. */
int bn_agent_send_document(struct bn_agent *a, struct bn_err *err);
/* The queue for the frames of the run's reports. */
struct bn_send_queue *bn_agent_send_queue(struct bn_agent *a);
/* Sends END, and waits while the controller reads. */
void bn_agent_end(struct bn_agent *a, int status);
/* Removes the folder alone, where threads were left behind that use the rest; before _exit().  a:
   may be NULL, also below. */
void bn_agent_leave(struct bn_agent *a);
/* Removes the folder and frees all.  Until then the end of the input ends the process. */
void bn_agent_free(struct bn_agent *a);

#endif
