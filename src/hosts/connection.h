/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The controller's view of one host: its state, and what it has sent.

   A connection is in one state, which only moves forward.  Whatever its stream says at a wrong
   time, or in a wrong form, is a loss. */
#ifndef BN_HOSTS_CONNECTION_H
#define BN_HOSTS_CONNECTION_H

#include "hosts/clock_sync.h"
#include "hosts/handshake.h"
#include "hosts/interval_merge.h"
#include "hosts/link.h"
#include "hosts/printer.h"
#include "hosts/remote_output.h"
#include "hosts/source.h"
#include "hosts/work_split.h"

enum bn_connection_state {
  BN_CONNECTION_CONNECTING, /* no WELCOME yet */
  BN_CONNECTION_OPENING,    /* it makes its sessions */
  BN_CONNECTION_READY,
  BN_CONNECTION_RUNNING, /* START has been sent */
  BN_CONNECTION_ENDED,   /* END has come */
  BN_CONNECTION_LOST     /* `why` has the reason */
};

struct bn_connection {
  struct bn_intervals *intervals; /* borrowed; the host is number `number` there */
  struct bn_printer *printer;     /* borrowed */
  struct bn_remote_line *line;    /* borrowed; the line of standard output of all hosts */
  struct bn_sources *sources;     /* borrowed; of all hosts */
  char *host;       /* borrowed, as the user has it; NULL: a process here, of a group */
  char *group;      /* borrowed: the name of its group; NULL: none */
  const char *name; /* for messages: host, group, or "HOST/GROUP" in `both` */
  char both[BN_WORK_SPLIT_BOTH_MAX + 1];
  size_t number;
  size_t group_number; /* 0: also without groups */
  int rank;            /* the rank of a launcher, whose host sends its name in WELCOME; -1: none */
  char own_host[BN_WORK_SPLIT_NAME_MAX + 1]; /* the host of a rank; "": not known */
  struct bn_work_split work;                 /* of a group here: known from READY on */
  struct bn_link link;
  enum bn_connection_state state;
  struct bn_clock_sync clock_sync;
  uint64_t ping_ns;                /* the time in the PING whose answer is awaited; 0: none is */
  uint64_t pinged_ns;              /* when the last PING was sent */
  struct bn_clock_sync_view clock; /* the offset of its clock when it was told to start */
  struct bn_result head;           /* its facts, from READY on; see bn_connection_find_result() */
  struct bn_buf result_text;       /* the frames RESULT that have come */
  uint64_t result_ns;              /* when a piece of them came last; 0: none has */
  struct bn_result result;         /* once END has come, if has_result */
  bool has_result;
  bool statements;    /* the run tells statements apart (--statements) */
  uint64_t closed_ns; /* when its stream ended; 0: not yet */
  bool local_data;    /* it executes a whole command for its own data; its lines have its name */
  bool is_waiting;    /* its sessions wait for those of the other hosts */
  int status;         /* the exit status in END */
  struct bn_err why;
};

/* Makes the name for messages from the names of the host and of the group. */
void bn_connection_set_name(struct bn_connection *c);
/* Returns the name of the host for reports: the one that a rank has sent, or else the one that the
   user has given.  NULL: it is a process here. */
char *bn_connection_get_host(struct bn_connection *c);
/* Sends HELLO, the files and OPEN to the agent, whose link has been started.  Returns 0, or -1 and
   err. */
int bn_connection_begin(struct bn_connection *c, const struct bn_handshake *handshake,
                        const struct bn_buf *files, struct bn_err *err);
void bn_connection_done(struct bn_connection *c);

/* Returns whether the host has neither ended nor been lost. */
bool bn_connection_is_alive(const struct bn_connection *c);
/* Returns whether it sends its result now, which may take long. */
bool bn_connection_is_sending(const struct bn_connection *c, uint64_t now_ns);
/* Reads a piece of the stream, and does what its frames say.  Loses the host if a frame is wrong.
   If the stream has ended, sets closed_ns, from which bn_connection_check_end() counts. */
void bn_connection_receive(struct bn_connection *c);
/* Loses the host if its stream has ended too early, once its process has ended too, or a second
   later.  May be called at any time. */
void bn_connection_check_end(struct bn_connection *c, uint64_t now_ns);
/* Sends a PING, unless other frames still wait to be sent.  The PING begins an exchange of times if
   none goes on, and is otherwise a sign of life, which is sent at most once a second. */
void bn_connection_send_ping(struct bn_connection *c);
/* Tells the host to start when it is at_ns on the clock here, after at least one exchange of times.
   Stores what is known of its clock in c->clock. */
void bn_connection_send_start(struct bn_connection *c, uint64_t at_ns);
/* Tells the host to stop. */
void bn_connection_send_stop(struct bn_connection *c, enum bn_frame_stop how);
/* Returns the result that the host has sent, or else a result of the figures of its last tick,
   which this function makes in c->head.  NULL: the host has sent neither.  Comes after the start,
   when no more is taken from the host. */
struct bn_result *bn_connection_find_result(struct bn_connection *c);
/* Tells the host, whose sessions wait for the other hosts, that all have met. */
void bn_connection_send_pass(struct bn_connection *c);
/* Gives the host up with the reason, and ends its process here.  Does nothing if the host has ended
   or is lost. */
__attribute__((format(printf, 2, 3))) void bn_connection_lose(struct bn_connection *c,
                                                              const char *fmt, ...);

#endif
