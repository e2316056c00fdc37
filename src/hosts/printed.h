/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commands print: standard output of an agent, handed to the controller in whole lines, so
   that lines of two hosts do not mix.

   Not what a run prints, which has a report in its place. */
#ifndef BN_HOSTS_PRINTED_H
#define BN_HOSTS_PRINTED_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "hosts/outbox.h"
#include "hosts/outlet.h"

/* --- the agent; one thread at a time --- */
struct bn_printed {
  int fd;             /* can be read when something was printed; -1: nothing is handed over */
  struct bn_buf line; /* the part without an end */
};

/* Standard output becomes a pipe.  -1 and err; end it in both cases. */
int bn_printed_begin(struct bn_printed *p, struct bn_err *err);
/* Hands over what was printed. */
void bn_printed_take(struct bn_printed *p, struct bn_outbox *box);
/* Hands over the rest; from now on standard output is standard error again. */
void bn_printed_end(struct bn_printed *p, struct bn_outbox *box);

/* --- the controller --- */
/* Prints it, each line that is not empty behind "host: " if host is not NULL.  A terminal only
 * shows it. */
void bn_printed_show(struct bn_outlet *o, const char *host, const char *text, size_t len);

#endif
