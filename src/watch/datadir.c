/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks a server whether it is on this host, and for its folder. */
#include "watch/datadir.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The statement that returns a proof that the server is on this host, and its folder.  MySQL and
   MariaDB return the name of their host; PostgreSQL has the address of its client if both are on
   this host, and none on a socket. */
static const struct {
  const char *driver, *sql;
  const char *proof; /* the expected proof; NULL: the name of this host */
} questions[] = {
    {"mysql", "SELECT @@hostname, @@datadir", NULL},
    {"pgsql",
     "SELECT coalesce((inet_server_addr() = inet_client_addr())::text, 'true'), "
     "current_setting('data_directory')",
     "true"},
};

struct answer {
  char proof[256];
  char *folder; /* [PATH_MAX] */
};

static void check_row(void *arg, const struct bn_sql_value pair[2])
{
  const struct answer *a = arg;
  const bool is_here =
      pair[0].len == strlen(a->proof) && strncmp(pair[0].ptr, a->proof, pair[0].len) == 0;

  if (is_here && pair[1].len < PATH_MAX)
    (void)snprintf(a->folder, PATH_MAX, "%.*s", (int)pair[1].len, pair[1].ptr);
}

int bn_datadir_find(struct bn_sql_side_query *p, char folder[PATH_MAX], struct bn_err *err)
{
  struct answer a = {.folder = folder};
  size_t i = 0;

  folder[0] = '\0';
  while (i < sizeof questions / sizeof *questions &&
         strcmp(questions[i].driver, p->link.ops->name) != 0)
    i++;
  if (i == sizeof questions / sizeof *questions)
    return bn_err_set(err, EINVAL, "no device is watched: the driver '%s' has no server",
                      p->link.ops->name);
  if (questions[i].proof != NULL)
    (void)snprintf(a.proof, sizeof a.proof, "%s", questions[i].proof);
  else if (gethostname(a.proof, sizeof a.proof - 1) != 0)
    return bn_err_set(err, errno, "no device is watched: this host has no name");
  if (bn_sql_side_query_pairs(p, questions[i].sql, check_row, &a, err) != 0)
    return -1;
  if (folder[0] == '\0')
    return bn_err_set(err, EINVAL, "no device is watched: the server is on another host");
  return 0;
}
