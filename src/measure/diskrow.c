/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds and reads a row of /proc/diskstats. */
#include "measure/diskrow.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/metric.h"

/* Reads the number at the beginning of *text, after blanks, and moves *text past it.  Returns false
   if there is no number. */
static bool diskrow_read_number(const char **text, uint64_t *n)
{
  const char *digits = *text + strspn(*text, " \t");
  char *end;

  if (!isdigit((unsigned char)*digits))
    return false;
  *n = strtoull(digits, &end, 10);
  *text = end;
  return true;
}

/* The line is "254 2 vda2 10 1 80 …", with at least eleven numbers after the name, up to
   BN_ROW_QUEUE_MS. */
bool bn_diskrow_parse(const char *line, unsigned major, unsigned minor, uint64_t out[BN_ROW_FIELDS])
{
  uint64_t number;
  size_t n = 0;

  if (!diskrow_read_number(&line, &number) || number != major ||
      !diskrow_read_number(&line, &number) || number != minor)
    return false;
  line += strspn(line, " \t");
  line += strcspn(line, " \t\n"); /* the name */
  while (n < BN_ROW_FIELDS && diskrow_read_number(&line, &out[n]))
    n++;
  if (n <= BN_ROW_QUEUE_MS)
    return false;
  for (; n < BN_ROW_FIELDS; n++) /* an older kernel does not have these */
    out[n] = BN_ABSENT;
  return true;
}

void bn_diskrow_widen(uint64_t row[BN_ROW_FIELDS], const uint64_t before[BN_ROW_FIELDS])
{
  static const enum bn_disk_field times[] = {BN_ROW_READ_MS,  BN_ROW_WRITE_MS,   BN_ROW_BUSY_MS,
                                             BN_ROW_QUEUE_MS, BN_ROW_DISCARD_MS, BN_ROW_FLUSH_MS};

  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    const enum bn_disk_field time = times[i];

    if (row[time] != BN_ABSENT) {
      /* The kernel counts modulo 2^32, so the difference is right even if the time wrapped. */
      const uint32_t grown_ms = (uint32_t)(row[time] - before[time]);

      row[time] = before[time] + grown_ms;
    }
  }
}

bool bn_diskrow_read(struct bn_diskrow *row)
{
  FILE *f = fopen("/proc/diskstats", "re");
  uint64_t now[BN_ROW_FIELDS];
  char *line = NULL;
  size_t room = 0;
  bool found = false;

  if (f == NULL)
    return false;
  while (!found && getline(&line, &room, f) > 0)
    found = bn_diskrow_parse(line, row->major, row->minor, now);
  free(line);
  (void)fclose(f);
  if (!found)
    return false;
  if (row->was_read)
    bn_diskrow_widen(now, row->value);
  row->was_read = true;
  memcpy(row->value, now, sizeof now);
  return true;
}
