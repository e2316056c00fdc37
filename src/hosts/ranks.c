/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes on to children what the bridge of rank 0 offers. */
#include "hosts/ranks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const char variable[] = "BENCH_RANKS";

int bn_ranks_tell(const struct bn_ranks *r)
{
  char text[32];

  (void)snprintf(text, sizeof text, "%u:%d", r->n, r->request);
  return setenv(variable, text, 1);
}

static bool is_socket(int fd)
{
  int type = 0;
  socklen_t len = sizeof type;

  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

int bn_ranks_read(struct bn_ranks *r, struct bn_err *err)
{
  const char *text = getenv(variable);
  char more;

  *r = (struct bn_ranks){.request = -1};
  if (text == NULL)
    return 0;
  if (sscanf(text, "%u:%d%c", &r->n, &r->request, &more) == 2 && is_socket(r->request))
    return 0;
  r->n = 0;
  return bn_err_set(err, EINVAL,
                    "the environment has %s, which only bench itself sets for programs that it "
                    "starts under a launcher; unset it",
                    variable);
}

int bn_ranks_add(const struct bn_ranks *r, struct bn_work_split_list *list, struct bn_err *err)
{
  char name[32];

  if (r->n > BN_WORK_SPLIT_HOSTS)
    return bn_err_set(err, ERANGE, "the launcher has started %u processes; a run can have %d", r->n,
                      BN_WORK_SPLIT_HOSTS);
  for (unsigned i = 0; i < r->n; i++) {
    (void)snprintf(name, sizeof name, "rank%u", i);
    if (bn_work_split_add(list, name, err) != 0)
      return -1;
  }
  return 0;
}
