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
#include "hosts/source.h"
#include "hosts/work_split.h"

enum bn_connection_state {
  BN_CONNECTION_CONNECTING, /* no WELCOME yet */
  BN_CONNECTION_OPENING,    /* makes its sessions */
  BN_CONNECTION_READY,
  BN_CONNECTION_RUNNING, /* START has been sent */
  BN_CONNECTION_ENDED,   /* END has come */
  BN_CONNECTION_LOST     /* `why` has the reason */
};

struct bn_connection {
  struct bn_intervals *intervals; /* get its intervals as those of host `number`; borrowed */
  struct bn_printer *printer;     /* borrowed */
  struct bn_sources *sources;     /* borrowed; of all hosts */
  const char *name;               /* borrowed */
  size_t number;
  int rank; /* the rank of a launcher, whose host sends its name in WELCOME; -1: none */
  char own_name[BN_WORK_SPLIT_NAME_MAX + 1]; /* the name of a rank; "": not known */
  bool group; /* it is a group of this host, which says what its work is when it is ready */
  struct bn_work_split work;
  struct bn_link link;
  enum bn_connection_state state;
  struct bn_clock_sync clock_sync;
  uint64_t ping_ns;                /* when the exchange of times began that goes on; 0: none does */
  uint64_t pinged_ns;              /* when the last one began */
  struct bn_clock_sync_view clock; /* the offset of its clock when it was told to start */
  struct bn_result
      head; /* its facts, from READY on, and its last tick after bn_connection_result() */
  struct bn_buf result_text; /* the frames RESULT that have come */
  uint64_t result_ns;        /* when a piece of them came last; 0: none has */
  struct bn_result result;   /* its result, once END has come */
  bool has_result;
  bool statements;    /* the run tells statements apart (--statements) */
  uint64_t closed_ns; /* when its stream ended; 0: not yet */
  bool local_data;    /* its command is its own, and its lines begin with its name */
  bool met;           /* its sessions wait for those of the other hosts */
  int status;         /* the exit status in END */
  struct bn_err why;
};

/* Once its link has been started: sends what the agent has to know.  -1 and err. */
int bn_connection_begin(struct bn_connection *c, const struct bn_handshake *handshake,
                        const struct bn_buf *files, struct bn_err *err);
void bn_connection_done(struct bn_connection *c);

/* Neither ended nor lost. */
bool bn_connection_is_there(const struct bn_connection *c);
/* Whether it sends its result now, which may take long. */
bool bn_connection_is_sending(const struct bn_connection *c, uint64_t now_ns);
/* Takes what has come.  false: nothing more comes now.  The host may have been lost. */
bool bn_connection_take(struct bn_connection *c);
/* At any time: loses it if its stream has ended too early. */
void bn_connection_check_end(struct bn_connection *c, uint64_t now_ns);
/* Begins an exchange of times, if none goes on. */
void bn_connection_ping(struct bn_connection *c);
/* All that is known of its clock goes into p->clock, and it starts at that time here. */
void bn_connection_start(struct bn_connection *c, uint64_t at_ns);
void bn_connection_stop(struct bn_connection *c, enum bn_frame_stop how);
/* The result that it has sent or, without that, what it had measured by its last tick; NULL: it has
   told nothing.  At any time from the start on, when no more is taken from it. */
struct bn_result *bn_connection_result(struct bn_connection *c);
/* All other hosts have met, too. */
void bn_connection_pass(struct bn_connection *c);
/* Gives the host up, with the reason. */
__attribute__((format(printf, 2, 3))) void bn_connection_lose(struct bn_connection *c,
                                                              const char *fmt, ...);

#endif
