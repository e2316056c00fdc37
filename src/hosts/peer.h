/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One host as the controller sees it: how far it is, and what it has sent.

   A peer is in one state, which only moves forward.  Whatever its stream says at a wrong time, or
   in a wrong form, is a loss. */
#ifndef BN_HOSTS_PEER_H
#define BN_HOSTS_PEER_H

#include "hosts/hello.h"
#include "hosts/link.h"
#include "hosts/outlet.h"
#include "hosts/rounds.h"
#include "hosts/share.h"
#include "hosts/skew.h"

enum bn_peer_state {
  BN_PEER_CONNECTING, /* no WELCOME yet */
  BN_PEER_OPENING,    /* makes its sessions */
  BN_PEER_READY,
  BN_PEER_RUNNING, /* it has been told when to start */
  BN_PEER_ENDED,   /* END has come */
  BN_PEER_LOST     /* why says it */
};

struct bn_peer {
  const char *name; /* borrowed */
  int rank;         /* that a launcher has started; its host says its name in WELCOME.  -1: none */
  char own_name[BN_SHARE_NAME_MAX + 1]; /* that; "": not known */
  struct bn_share share;
  struct bn_outlet *outlet; /* borrowed */
  struct bn_link link;
  enum bn_peer_state state;
  struct bn_skew skew;
  uint64_t ping_ns;          /* of the exchange that goes on; 0: none does */
  uint64_t pinged_ns;        /* when the last one began */
  struct bn_skew_view clock; /* when it was told to start */
  struct bn_result head;     /* its facts, from READY on; bn_peer_result() */
  struct bn_buf result;      /* the frames RESULT that have come */
  uint64_t result_ns;        /* when a piece of them came last; 0: none has */
  struct bn_result whole;    /* its result, once END has come */
  bool has_result;
  bool statements;    /* the run tells them apart */
  uint64_t closed_ns; /* when its stream ended; 0: not yet */
  bool apart;         /* its command is one of its own, and its lines begin with its name */
  bool met;           /* its sessions wait for those of the other hosts */
  int status;         /* of END */
  struct bn_err why;
};

/* Once its link has been started: sends what the agent has to know.  -1 and err. */
int bn_peer_begin(struct bn_peer *p, const struct bn_store *js, const struct bn_hello *hello,
                  const struct bn_buf *files, struct bn_err *err);
void bn_peer_done(struct bn_peer *p);

/* Neither ended nor lost. */
bool bn_peer_is_there(const struct bn_peer *p);
/* Whether it sends its result now, which may take long. */
bool bn_peer_is_sending(const struct bn_peer *p, uint64_t now_ns);
/* Takes what has come; intervals go into `rounds` as those of host i.  false: nothing more comes
   now.  It may have been lost. */
bool bn_peer_take(struct bn_peer *p, const struct bn_store *js, struct bn_rounds *rounds, size_t i);
/* At any time: loses it if its stream has ended too early. */
void bn_peer_look(struct bn_peer *p, uint64_t now_ns);
/* Begins an exchange of times, if none goes on. */
void bn_peer_ping(struct bn_peer *p);
/* All that is known of its clock goes into p->clock, and it starts at that time here. */
void bn_peer_start(struct bn_peer *p, uint64_t at_ns);
void bn_peer_stop(struct bn_peer *p, enum bn_frame_stop how);
/* The result that it has sent or, without that, what it had measured by its last tick; NULL: it has
   told nothing.  At any time from the start on, when no more is taken from it. */
struct bn_result *bn_peer_result(struct bn_peer *p, const struct bn_rounds *rounds, size_t i);
/* All other hosts have met, too. */
void bn_peer_pass(struct bn_peer *p);
/* It is given up. */
__attribute__((format(printf, 2, 3))) void bn_peer_lose(struct bn_peer *p, const char *fmt, ...);

#endif
