/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several workloads on the command line, each with its weight, and groups of sessions. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mask.h"
#include "cli/cli.h"
#include "option/mix.h"
#include "registry.h"

/* Returns the text that messages show for the test, or a mask, in `masked`: the word may be the
   value of an option, as in "--mysql-password SECRET". */
static const char *workloads_mask_test(const struct bn_cli *cli, char masked[BN_MASK_MAX])
{
  return cli->hides_test ? BN_MASK : bn_mask_text(cli->test, masked);
}

int bn_cli_add_workload(struct bn_cli *cli, const char *word, const char *shown)
{
  char mix[sizeof cli->mix], masked[BN_MASK_MAX];
  const char *first = workloads_mask_test(cli, masked);

  if (!bn_policy_is_native(cli->policy)) {
    bn_log_stderr("%s: several workloads in one run cannot be combined with --compat", shown);
    return -1;
  }
  if (!bn_mix_has_weight(cli->test)) {
    bn_log_stderr("%s: each of several workloads needs a weight, such as %s@1", first, first);
    return -1;
  }
  /* cli->test may point at cli->mix, which has the workloads before this one. */
  if ((size_t)snprintf(mix, sizeof mix, "%s %s", cli->test, word) >= sizeof mix) {
    bn_log_stderr("%s: the names of all workloads together are too long; allowed: up to %zu bytes",
                  shown, sizeof mix - 1);
    return -1;
  }
  memcpy(cli->mix, mix, sizeof mix);
  cli->test = cli->mix;
  return 0;
}

/* Refuses a built-in test, and a script on standard input.  Returns 0, or -1 after a message. */
static int workloads_refuse_other_than_file(const struct bn_mix_item *item)
{
  char name[64]; /* a cut name is that of a file: the names of built-in tests are shorter */

  (void)snprintf(name, sizeof name, "%.*s", (int)item->len, item->name);
  if (bn_registry_find_workload(name) != NULL) {
    bn_log_stderr("%s: a built-in test cannot be one of several workloads, which are scripts",
                  name);
    return -1;
  }
  if (strcmp(name, "-") == 0) {
    bn_log_stderr("-: a script on standard input cannot be one of several workloads; use a file");
    return -1;
  }
  return 0;
}

int bn_cli_check_workloads(const struct bn_cli *cli)
{
  struct bn_mix_item item;
  struct bn_err err = {0};
  const char *remaining = cli->test;
  int rc;

  if (!bn_mix_is_test(cli->policy, cli->test))
    return 0;
  while ((rc = bn_mix_next(&remaining, &item, &err)) > 0)
    if (workloads_refuse_other_than_file(&item) != 0)
      return -1;
  /* The error shows a part of the test, which may be a password if the test is hidden. */
  if (rc < 0)
    bn_log_stderr("%s", cli->hides_test ? "the weight of a workload is wrong" : err.text);
  return rc;
}

/* --- groups --- */

int bn_cli_use_word_for_groups(struct bn_cli *cli, size_t n_groups)
{
  char masked[BN_MASK_MAX];

  if (n_groups == 0)
    return 0;
  if (!bn_policy_is_native(cli->policy)) {
    bn_log_stderr("--group cannot be used with --compat");
    return -1;
  }
  if (cli->test == NULL)
    return 0;
  if (cli->command != NULL) {
    bn_log_stderr("--group: '%s' stands outside of the groups; each of them names its script, and "
                  "the command alone stands after them",
                  workloads_mask_test(cli, masked));
    return -1;
  }
  cli->command = cli->test;
  cli->hides_command = cli->hides_test;
  cli->test = NULL;
  return 0;
}
