/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes text at once and remembers the first error. */
#include "report/output.h"

#include <errno.h>
#include <string.h>

void bn_output_begin(struct bn_output *o)
{
  flockfile(o->out);
}

void bn_output_end(struct bn_output *o)
{
  errno = 0;
  if ((fflush(o->out) != 0 || ferror(o->out)) && o->error == 0)
    o->error = errno != 0 ? errno : -1;
  funlockfile(o->out);
}

int bn_output_verdict(const struct bn_output *o, struct bn_err *err)
{
  if (o->error > 0)
    return bn_err_set(err, o->error, "cannot write the report: %s", strerror(o->error));
  if (o->error < 0)
    return bn_err_set(err, 0, "its file could not be written");
  return 0;
}
