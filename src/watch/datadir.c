/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks a server whether it is on this host, and for its folder. */
#include "watch/datadir.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The answer of a server that is asked for its folder, and the proof that it is on this host. */
struct answer {
  char proof[256];
  char *folder; /* [PATH_MAX]; "" until the server has given the proof */
};

/* Sets the folder to the second value of a row whose first value is the proof. */
static void datadir_check_row(void *arg, const struct bn_sql_value pair[2])
{
  const struct answer *a = arg;
  const struct bn_sql_value *proof = &pair[0], *folder = &pair[1];
  const bool is_here =
      proof->len == strlen(a->proof) && strncmp(proof->ptr, a->proof, proof->len) == 0;

  if (is_here && folder->len < PATH_MAX)
    (void)snprintf(a->folder, PATH_MAX, "%.*s", (int)folder->len, folder->ptr);
}

int bn_datadir_find(struct bn_sql_side_query *query, char folder[PATH_MAX], struct bn_err *err)
{
  const struct bn_driver *ops = query->link.ops;
  struct answer a = {.folder = folder};

  folder[0] = '\0';
  if (ops->folder_sql == NULL)
    return bn_err_set(err, EINVAL, "no device is watched: the driver '%s' has no server",
                      ops->name);
  if (ops->folder_proof != NULL)
    (void)snprintf(a.proof, sizeof a.proof, "%s", ops->folder_proof);
  else if (gethostname(a.proof, sizeof a.proof - 1) != 0) /* the zeroed last byte ends any name */
    return bn_err_set(err, errno, "no device is watched: this host has no name");
  if (bn_sql_side_query_read_pairs(&query->link, ops->folder_sql, datadir_check_row, &a, err) != 0)
    return -1;
  if (folder[0] == '\0')
    return bn_err_set(err, EINVAL, "no device is watched: the server is on another host");
  return 0;
}
