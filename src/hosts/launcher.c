/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and removes the variables that launchers set, and passes on to children what the bridge of
   rank 0 offers. */
#include "hosts/launcher.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/units.h"

/* --- launchers ------------------------------------------------------------------------------- */

/* The variables from which a process learns its rank and the number of ranks.  MPICH's are also
   set by Slurm, and by the launchers of libraries that descend from MPICH. */
static const struct {
  const char *ranks, *rank, *carrier, *title;
} launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "openmpi", "Open MPI"},
                 {"PMI_SIZE", "PMI_RANK", "mpich", "MPICH"}};

/* The beginnings of the names of all variables that launchers set for the library. */
static const char *const prefixes[] = {"OMPI_", "PMI_",  "PMIX_", "HYDI_", "HYDRA_",
                                       "MPI_",  "MPIR_", "OPAL_", "ORTE_", "PRTE_"};

/* Reads a number from the environment.  Returns false if the variable is missing, or is not a
   number that ranks can have. */
static bool launcher_read_number(const char *name, unsigned *out)
{
  const char *text = getenv(name);
  int64_t n;

  if (text == NULL || bn_units_parse_int(text, &n) != 0 || n < 0 || n > INT32_MAX)
    return false;
  *out = (unsigned)n;
  return true;
}

bool bn_launcher_read(struct bn_launcher *l)
{
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
    if (!launcher_read_number(launchers[i].ranks, &l->ranks) ||
        !launcher_read_number(launchers[i].rank, &l->rank))
      continue;
    if (l->ranks <= 1 || l->rank >= l->ranks) /* the process is alone, or the variables are wrong */
      continue;
    l->carrier = launchers[i].carrier;
    l->title = launchers[i].title;
    return true;
  }
  return false;
}

/* Returns whether a variable, "NAME=VALUE", is one that launchers set for the library. */
static bool launcher_sets_variable(const char *variable)
{
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
      return true;
  return false;
}

/* A name that does not fit into NAME_BYTES is left alone: no launcher sets such a variable. */
void bn_launcher_forget(void)
{
  enum { NAME_BYTES = 256 };
  char name[NAME_BYTES];

  for (char **v = environ; v != NULL && *v != NULL;) {
    const size_t len = strcspn(*v, "=");

    if (!launcher_sets_variable(*v) || len >= sizeof name) {
      v++;
      continue;
    }
    memcpy(name, *v, len);
    name[len] = '\0';
    (void)unsetenv(name); /* moves the next variable to v, so v stays */
  }
}

/* --- ranks ------------------------------------------------------------------------------------ */

static const char ranks_variable[] = "BENCH_RANKS";

int bn_ranks_export(const struct bn_ranks *r)
{
  char text[32];

  (void)snprintf(text, sizeof text, "%u:%d", r->n, r->request);
  return setenv(ranks_variable, text, 1 /* overwrite */);
}

void bn_ranks_unset(void)
{
  (void)unsetenv(ranks_variable);
}

/* Returns whether the descriptor is a socket of the type that bn_handover_make_socket() makes. */
static bool launcher_is_socket(int fd)
{
  int type = 0;
  socklen_t len = sizeof type;

  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

int bn_ranks_read(struct bn_ranks *r, struct bn_err *err)
{
  const char *text = getenv(ranks_variable);
  char trailing; /* the character after the two numbers; there must be none */

  *r = (struct bn_ranks){.request = -1};
  if (text == NULL)
    return 0;
  if (sscanf(text, "%u:%d%c", &r->n, &r->request, &trailing) == 2 && launcher_is_socket(r->request))
    return 0;
  r->n = 0;
  return bn_err_set(err, EINVAL,
                    "the environment has %s, which only bench itself sets for programs that it "
                    "starts under a launcher; unset it",
                    ranks_variable);
}

int bn_ranks_add_hosts(const struct bn_ranks *r, struct bn_work_split_list *list,
                       struct bn_err *err)
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
