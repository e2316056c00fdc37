/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a file block by block or line by line. */
#include "measure/lines.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "measure/bounds.h"

void bn_lines_init(struct bn_lines *l, FILE *f)
{
  l->f = f;
  l->at = l->n = 0;
  bn_buf_init(&l->line, BN_BOUND_LINE_BYTES);
}

void bn_lines_done(struct bn_lines *l)
{
  bn_buf_done(&l->line);
}

const char *bn_lines_block(struct bn_lines *l, size_t *len)
{
  if (l->at == l->n) {
    l->at = 0;
    l->n = fread(l->block, 1, sizeof l->block, l->f);
  }
  *len = l->n - l->at;
  return l->block + l->at;
}

void bn_lines_skip(struct bn_lines *l, size_t len)
{
  l->at += len;
}

/* Appends a part of a line.  Returns 0, or -1 and err, which begins with "it": the caller of
   bn_lines_next() names the line. */
static int lines_append(struct bn_lines *l, const char *part, size_t len, struct bn_err *err)
{
  if (l->line.len + len > l->line.max)
    return bn_err_set(err, EFBIG, "it has more than %zu MiB", l->line.max >> 20);
  if (bn_buf_add(&l->line, part, len) != 0)
    bn_alloc_fail();
  return 0;
}

int bn_lines_next(struct bn_lines *l, struct bn_err *err)
{
  bn_buf_clear(&l->line);
  for (;;) {
    size_t len;
    const char *block = bn_lines_block(l, &len);
    const char *newline = memchr(block, '\n', len);
    const size_t part_len = newline != NULL ? (size_t)(newline - block) : len; /* of the line */

    if (len == 0) /* a last line without a newline is not returned */
      return 0;
    if (lines_append(l, block, part_len, err) != 0)
      return -1;
    bn_lines_skip(l, newline != NULL ? part_len + 1 : part_len);
    if (newline != NULL)
      return 1;
  }
}
