/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes text at once and remembers the first error. */
#include "report/output.h"

#include <errno.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

void bn_output_init(struct bn_output *o, FILE *out, const char *path)
{
  struct stat st;

  *o = (struct bn_output){.out = out};
  o->own_file = path != NULL && bn_file_descriptor(path) < 0 && fstat(fileno(out), &st) == 0 &&
                S_ISREG(st.st_mode);
}

void bn_output_begin(struct bn_output *o)
{
  flockfile(o->out);
  if (o->own_file && !o->begun && ftruncate(fileno(o->out), 0) != 0)
    o->error = errno;
  o->begun = true;
}

/* Cuts the file after its last whole piece.  If that fails too, the verdict is the same. */
static void output_cut(const struct bn_output *o)
{
  const int fd = fileno(o->out);

  __fpurge(o->out);
  if (ftruncate(fd, o->kept) == 0 && lseek(fd, o->kept, SEEK_SET) == o->kept)
    clearerr(o->out);
}

void bn_output_end(struct bn_output *o)
{
  bool failed;

  errno = 0;
  failed = fflush(o->out) != 0 || ferror(o->out);
  if (failed && o->error == 0)
    o->error = errno != 0 ? errno : -1;
  if (o->own_file && (failed || (o->error != 0 && !o->gaps)))
    output_cut(o);
  else if (o->own_file)
    o->kept = lseek(fileno(o->out), 0, SEEK_CUR);
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
