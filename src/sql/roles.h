/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --db-read-hosts: makes one connection of two, to a server that writes and to one that is read.
 *
 * It stands between the SQL layer and the driver, as a driver: the connections of a run's threads
 * use its functions, all others the driver's own.
 *
 * A statement goes to the read server if it is part of a transaction that was begun there, or if
 * its text only reads and no transaction is open; all others go to the write server.  A prepared
 * statement is known to a server once it has been executed there, or was prepared outside of
 * transactions and its text is for that server. */
#ifndef BN_SQL_ROLES_H
#define BN_SQL_ROLES_H

#include "api/driver.h"
#include "base/err.h"
#include "sql/readhosts.h"

struct bn_sql_conn;

enum bn_sql_role { BN_ROLE_WRITE, BN_ROLE_READ, BN_ROLES };

/* Of a driver. */
struct bn_sql_roles {
  struct bn_sql_read_hosts hosts; /* none: there is one server for all, and `ops` is not used */
  struct bn_driver ops;
};

/* Of zeroed memory, or of what was made before.  0, or -1 and err: the driver cannot have them. */
int bn_sql_roles_init(struct bn_sql_roles *roles, const struct bn_list *list,
                      const struct bn_driver *ops, struct bn_err *err);
void bn_sql_roles_done(struct bn_sql_roles *roles);

/* The driver's connection to this server. */
void *bn_sql_roles_handle(struct bn_sql_conn *c, enum bn_sql_role role);
/* As the driver's `place`, of this server; returns how many pairs of servers there are. */
size_t bn_sql_roles_place(const struct bn_sql_conn *c, const struct bn_sql_target *t,
                          enum bn_sql_role role, char *name, size_t size);

#endif
