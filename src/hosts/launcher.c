/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the variables that launchers set, and removes them. */
#include "hosts/launcher.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"

/* MPICH's launcher is that of its relatives too, and Slurm sets the same variables. */
static const struct {
  const char *ranks, *rank, *carrier, *title;
} known[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "openmpi", "Open MPI"},
             {"PMI_SIZE", "PMI_RANK", "mpich", "MPICH"}};

/* How the names of all variables begin that launchers set for the library. */
static const char *const prefixes[] = {"OMPI_", "PMI_",  "PMIX_", "HYDI_", "HYDRA_",
                                       "MPI_",  "MPIR_", "OPAL_", "ORTE_", "PRTE_"};

static bool read_number(const char *name, unsigned *out)
{
  const char *text = getenv(name);
  int64_t n;

  if (text == NULL || bn_units_int(text, &n) != 0 || n < 0 || n > INT32_MAX)
    return false;
  *out = (unsigned)n;
  return true;
}

bool bn_launcher_read(struct bn_launcher *l)
{
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (read_number(known[i].ranks, &l->ranks) && read_number(known[i].rank, &l->rank) &&
        l->ranks > 1 && l->rank < l->ranks) {
      l->carrier = known[i].carrier;
      l->title = known[i].title;
      return true;
    }
  return false;
}

static bool is_of_launcher(const char *variable)
{
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
      return true;
  return false;
}

/* unsetenv(3) moves what follows to the place of what it removes. */
void bn_launcher_forget(void)
{
  char name[256];

  for (char **v = environ; v != NULL && *v != NULL;) {
    const size_t len = strcspn(*v, "=");

    if (!is_of_launcher(*v) || len >= sizeof name) {
      v++;
      continue;
    }
    memcpy(name, *v, len);
    name[len] = '\0';
    (void)unsetenv(name);
  }
}
