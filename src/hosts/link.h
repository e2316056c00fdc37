/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The link to one host: the process that connects to it, and the three streams of that process.

   No call but bn_link_done() waits.  Frames for the host go into a queue, which is sent as the pipe
   takes it. */
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
  const char *name;      /* of the host, borrowed; before each line of its standard error */
  pid_t pid;             /* 0: none */
  bool ended;            /* the process has been collected */
  int wait_status;       /* what waitpid(2) has said of its end */
  struct bn_pipe_out to; /* its input */
  int out, errors;       /* the ends here of its output and its standard error; -1: closed */
  struct bn_frame_reader reader;
  struct bn_buf line; /* the last line of its standard error, while it has no end */
  uint64_t heard_ns;  /* when the last byte of its frames came; CLOCK_MONOTONIC */
  uint64_t taken_ns;  /* when its pipe took something last */
};

/* The next three functions make a link, whose name the caller sets.  Each returns 0, or -1 and err;
   bn_link_done() follows in both cases.  `masked` is the signal mask of the process. */

/* Starts the agent of a host over the shell (--hosts-shell), whose words come first, then the host,
   the program there as one word even if its path has blanks, and "--agent". */
int bn_link_start_shell(struct bn_link *l, const char *host, const char *shell, const char *program,
                        const sigset_t *masked, struct bn_err *err);
/* Starts an agent of this program here.  If it shares the standard error of this process, it writes
   there itself; otherwise bn_link_print_errors() prints its lines after the name. */
int bn_link_start_agent(struct bn_link *l, bool shares_stderr, const sigset_t *masked,
                        struct bn_err *err);
/* Makes a link without a process here: the ends of its pipes are sent with the number to the
   process at the other side of the socket, which starts the agent.  `name` is for err. */
int bn_link_request_agent(struct bn_link *l, const char *name, int socket, uint32_t number,
                          struct bn_err *err);
/* Kills the process if it has not ended, waits for its end, which SIGKILL makes short, and closes
   and frees all. */
void bn_link_done(struct bn_link *l);

/* Sends as much of the queue as the pipe takes.  Closes the pipe if nobody reads it. */
void bn_link_send(struct bn_link *l);
/* Takes a piece of the frames that have come; they are fetched with bn_frame_next().  Returns 1, or
   0 if nothing has come, or -1 if the stream has ended or there is no memory; it is closed then. */
int bn_link_receive(struct bn_link *l);
/* Takes a piece of standard error, and prints the lines that are complete.  At its end, prints the
   last line, and closes it. */
void bn_link_print_errors(struct bn_link *l, struct bn_printer *printer);
/* Checks whether the process has ended, and stores its status when it has.  Returns whether it has
   ended; true without a process. */
bool bn_link_check_ended(struct bn_link *l);
/* Sends a signal to the process and its group if it has not ended. */
void bn_link_kill(const struct bn_link *l, int signo);

#endif
