/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way to one host: the process that connects to it, and its three streams.

   No call here waits.  What is put goes into a buffer that leaves as the pipe takes it. */
#ifndef BN_HOSTS_LINK_H
#define BN_HOSTS_LINK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "hosts/frame.h"
#include "hosts/pipe.h"
#include "hosts/printer.h"

struct bn_link {
  const char *name; /* of the host, borrowed; before each line of its standard error */
  pid_t pid;        /* 0: none */
  bool ended;       /* the process has been collected, how: as waitpid(2) says */
  int how;
  struct bn_pipe_out to; /* its input */
  int out, errors;       /* our ends of its output and its standard error; -1: closed */
  struct bn_frame_reader reader;
  struct bn_buf line; /* of standard error, the part without an end */
  uint64_t heard_ns;  /* when the last byte of its frames came; CLOCK_MONOTONIC */
  uint64_t taken_ns;  /* when its pipe took something last */
};

/* Starts the agent of a host over the shell (--hosts-shell), whose words come first, then the host,
   the program there, and "--agent".  host is borrowed.  -1 and err. */
int bn_link_shell(struct bn_link *l, const char *host, const char *shell, const char *program,
                  const sigset_t *masked, struct bn_err *err);
/* Starts an agent of this program here.  It shares the standard error, or its lines are printed
   behind the name, which is borrowed. */
int bn_link_agent(struct bn_link *l, const char *name, bool shares, const sigset_t *masked,
                  struct bn_err *err);
/* Makes a link without a process: the process that takes handovers at the socket gets the pipes. */
int bn_link_join(struct bn_link *l, const char *name, int socket, uint32_t number,
                 struct bn_err *err);
/* Ends the process at once if it is there, and closes everything. */
void bn_link_done(struct bn_link *l);

/* Sends what the pipe takes.  If the other side is gone, nothing more is sent. */
void bn_link_send(struct bn_link *l);
/* Takes a piece of the frames that have come: fetch them with bn_frame_next().  1: a piece, 0:
   nothing now, -1: the end, or no memory; the stream is closed. */
int bn_link_receive(struct bn_link *l);
/* Takes a piece of standard error and prints the lines that are complete. */
void bn_link_show(struct bn_link *l, struct bn_printer *printer);
/* Whether the process has ended by now. */
bool bn_link_has_ended(struct bn_link *l);
void bn_link_kill(const struct bn_link *l, int signo);

#endif
