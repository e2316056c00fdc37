/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The standard output of a command on a host, handed to the controller in complete lines, so that
   lines of two hosts do not mix.  A run has reports instead. */
#ifndef BN_HOSTS_REMOTE_OUTPUT_H
#define BN_HOSTS_REMOTE_OUTPUT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "hosts/printer.h"
#include "hosts/send_queue.h"

/* --- the agent; one thread at a time --- */
struct bn_remote_output {
  int fd;             /* can be read when something was printed; -1: nothing is handed over */
  struct bn_buf line; /* the part without an end */
};

/* Standard output becomes a pipe.  -1 and err; end it in both cases. */
int bn_remote_output_begin(struct bn_remote_output *o, struct bn_err *err);
/* Hands over what was printed. */
void bn_remote_output_take(struct bn_remote_output *o, struct bn_send_queue *queue);
/* Hands over the rest; from now on standard output is standard error again. */
void bn_remote_output_end(struct bn_remote_output *o, struct bn_send_queue *queue);

/* --- the controller --- */
/* Prints it, each line that is not empty behind "host: " if host is not NULL.  A terminal only
   shows it. */
void bn_remote_output_show(struct bn_printer *p, const char *host, const char *text, size_t len);

#endif
