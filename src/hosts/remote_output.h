/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The standard output of a command on a host, sent to the controller in complete lines, so that
   lines of two hosts do not mix.  A line that is very long is sent in pieces.  A run has reports
   instead. */
#ifndef BN_HOSTS_REMOTE_OUTPUT_H
#define BN_HOSTS_REMOTE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "hosts/printer.h"
#include "hosts/send_queue.h"
#include "hosts/work_split.h"

/* --- the agent; one thread at a time --- */
struct bn_remote_output {
  int fd;             /* can be read when something was printed; -1: nothing is sent */
  struct bn_buf line; /* the last line that was read, while it has no end */
};

/* Makes standard output a pipe.  Returns 0, or -1 and err; *o is to be ended in both cases. */
int bn_remote_output_begin(struct bn_remote_output *o, struct bn_err *err);
/* Reads a piece of what was printed, and queues its complete lines. */
void bn_remote_output_send(struct bn_remote_output *o, struct bn_send_queue *queue);
/* Queues all that is left, and makes standard output standard error again. */
void bn_remote_output_end(struct bn_remote_output *o, struct bn_send_queue *queue);

/* --- the controller --- */
enum { BN_REMOTE_PREFIX_SIZE = BN_WORK_SPLIT_BOTH_MAX + sizeof ": " };

/* The last line of standard output, on which several hosts print.  The thread of the printer uses
   it.  All zero: it is empty. */
struct bn_remote_line {
  bool is_open;                       /* it has no end yet */
  char prefix[BN_REMOTE_PREFIX_SIZE]; /* that of the host that has printed it */
};

/* Prints a text of a host, which is not empty and may end within a line.  Lines that are not empty
   begin with "host: " unless host is NULL.  Control characters are escaped for a terminal. */
void bn_remote_output_show(struct bn_printer *p, struct bn_remote_line *line, const char *host,
                           const char *text, size_t len);

#endif
