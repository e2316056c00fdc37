/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ends the turn of a connection in the queue of its file. */
#include "drivers/sqlite/sqlite.h"

void bn_sqlite_leave(struct bn_sqlite_conn *c)
{
  if (c->holds == BN_SQLITE_NONE)
    return;
  bn_sqlite_queue_leave(&c->file->queue, &c->turn, c->holds);
  c->holds = BN_SQLITE_NONE;
}
