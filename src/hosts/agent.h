/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `bench --agent`: an ordinary run whose command line and files come from a controller, and whose
   results go there.

   One thread, the listener, serves the streams: it answers PING at once, hands START and STOP to
   the run, and sends the frames that other threads put into the send queue.  If its input ends or
   brings nothing for 8 s, if the controller reads no more, or if its input is no stream of frames,
   the listener stops the run, and the process ends within 2 s, without the run if it hangs.
   Standard output of the process is its standard error, and standard input is empty, so that no
   script disturbs the frames. */
#ifndef BN_HOSTS_AGENT_H
#define BN_HOSTS_AGENT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "engine/host_group.h"
#include "hosts/send_queue.h"

/* The controller, which sends a PING each second, is lost after this time without one, because the
   stream does not end if the network is gone.  The controller gives up a silent agent earlier than
   that (hosts/liveness.c), so that both sides never continue alone. */
#define BN_AGENT_SILENCE_NS (8 * BN_NSEC_PER_SEC)

struct bn_agent;

/* Returns whether these are the arguments of an agent. */
bool bn_agent_is_wanted(int argc, char *const *argv);

/* The main thread calls all functions below, unless they say otherwise. */

/* Takes the streams, makes the temporary folder, and returns once the controller has sent OPEN.
   Comes before there are threads, and before anything is printed.  Returns 0, or -1: there is no
   run, and err has a sentence for standard error unless the controller was lost or one of its
   frames was refused.  *out, which may be NULL, is to be freed in both cases. */
int bn_agent_open(struct bn_agent **out, struct bn_err *err);
/* Return the command line of the run, with the program's name; it ends with NULL, and stays the
   agent's. */
int bn_agent_get_argc(const struct bn_agent *a);
char **bn_agent_get_argv(struct bn_agent *a);
/* Returns how many of its first arguments stand outside of the groups of the run; 0 if `a` is
   NULL. */
size_t bn_agent_count_outside(const struct bn_agent *a);
/* Returns the folder of the files that the controller has sent.  NULL: it has sent none, or `a` is
   NULL. */
const char *bn_agent_get_folder(const struct bn_agent *a);
/* Asks the controller whether it has the same script as this host, and waits for the answer.
   `agent` is a struct bn_agent, and the rest is as of bn_source_print().  Returns false if the
   controller is lost: it leaves an agent whose script is another one.  Any thread, but one at a
   time. */
bool bn_agent_compare_source(void *agent, const char *file, size_t folder_len, const void *text,
                             size_t len);
/* Returns whether this is the first host of the run; true if `a` is NULL, because the host is the
   only one. */
bool bn_agent_is_first(const struct bn_agent *a);
/* Returns the host group of which the run of this process is a part, or NULL if `a` is NULL. */
const struct bn_host_group *bn_agent_get_group(const struct bn_agent *a);
/* Opens the stream into which a reporter writes the document of the run.  Called once; the caller
   closes the stream (bn_cli_close_reports()). */
FILE *bn_agent_open_document(struct bn_agent *a);
/* Sends the document that has been written so far.  Returns 0, or -1 and err. */
int bn_agent_send_document(struct bn_agent *a, struct bn_err *err);
/* Returns the queue for the frames of the run's reports. */
struct bn_send_queue *bn_agent_get_send_queue(struct bn_agent *a);
/* Sends the last text that the command has printed, and END with the exit status.  Waits until the
   controller has read all, or has read nothing for some seconds. */
void bn_agent_send_end(struct bn_agent *a, int status);
/* Ends the listener, removes the folder and frees all.  Until then the loss of the controller ends
   the process.  Does nothing if `a` is NULL. */
void bn_agent_free(struct bn_agent *a);

#endif
