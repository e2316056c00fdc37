/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --db-read-hosts: a layer that makes one connection of two, to a server that writes and to one
   that is read.

   It stands in front of the driver and has the driver's functions.  The connections of a run's
   threads go through it; all others reach the driver directly.

   A statement goes to the read server if it is part of a transaction that was begun there, or if
   its text only reads and no transaction is open; all others go to the write server.  A statement
   is prepared on the server that it would go to at that moment, and on the other one when it is
   first executed there.

   The thread that drives the session calls these functions. */
#ifndef BN_SQL_SPLIT_H
#define BN_SQL_SPLIT_H

#include "api/driver.h"
#include "api/session.h"
#include "base/err.h"
#include "sql/link.h"
#include "sql/readhosts.h"

enum bn_sql_role { BN_ROLE_WRITE, BN_ROLE_READ, BN_ROLES };

/* The part of the layer that all connections of a driver share. */
struct bn_sql_splitter {
  struct bn_sql_read_hosts hosts; /* n is 0: there is no layer, and `ops` is not used */
  struct bn_driver ops;           /* of the layer */
  const struct bn_sql_caps *caps; /* the driver's */
};

/* The handle of the layer: two connections of the driver. */
struct bn_sql_split;

/* Initialises zeroed memory, or a splitter anew, with a list of read hosts for a driver.  caps is
   borrowed, and is read only when statements are executed.  Returns 0, or -1 and err if an item of
   the list is not a server, or the driver cannot have read hosts. */
int bn_sql_splitter_init(struct bn_sql_splitter *splitter, const struct bn_list *list,
                         const struct bn_driver *ops, const struct bn_sql_caps *caps,
                         struct bn_err *err);
void bn_sql_splitter_done(struct bn_sql_splitter *splitter);

/* Puts the layer in the place of a driver's link, which is closed, and which the layer owns from
   then on.  `counter` of s counts the reads of the read server.  Returns the handle of the new
   link. */
struct bn_sql_split *bn_sql_split_wrap(struct bn_sql_link *link,
                                       const struct bn_sql_splitter *splitter,
                                       const struct bn_session *s, unsigned counter);
/* Returns the links to the driver, by enum bn_sql_role. */
const struct bn_sql_link *bn_sql_split_links(const struct bn_sql_split *p);
/* Names the server that the last statement was for, as the driver's `place` does.  Returns how many
   pairs of servers there are.  name may be NULL, with size 0. */
size_t bn_sql_split_name_place(const struct bn_sql_split *p, const struct bn_sql_target *t,
                               char *name, size_t size);
/* Sets whether all queries go to the write server, except within a transaction on the read server.
   A script that is going to change tables asks about them in this way, because the answers of a
   read server may be out of date. */
void bn_sql_split_set_write_only(struct bn_sql_split *p, bool on);

#endif
