/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and checks --assert, --label and --watch. */
#include "named_options.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mask.h"
#include "engine/watch.h"
#include "registry.h"

/* Logs why an assertion is wrong and, if no metric has that name, the names of all metrics. */
static void named_refuse_assert(const char *shown, const struct bn_err *err)
{
  struct bn_buf names = {0};

  bn_log_stderr("--assert=%s: %s", shown, err->text);
  if (err->code != ENOENT)
    return;
  bn_assert_list_names(&names);
  bn_log_stderr("the metrics are: %s", names.data);
  bn_buf_done(&names);
}

/* Adds the assertion that the text describes to out[0..*n), and counts it in *n.  Returns 0, or -1
   after a message. */
static int named_add_assert(const char *text, struct bn_assert *out, size_t *n)
{
  struct bn_err err = {0};
  char masked[BN_MASK_MAX];
  const char *shown = bn_mask_text(text, masked);

  if (*n == BN_ASSERTS_MAX) {
    bn_log_stderr("--assert=%s: too many assertions; allowed: up to %d", shown, BN_ASSERTS_MAX);
    return -1;
  }
  if (bn_assert_parse_option(&out[*n], text, &err) != 0) {
    named_refuse_assert(shown, &err);
    return -1;
  }
  (*n)++;
  return 0;
}

int bn_named_asserts(const struct bn_list *list, struct bn_assert *out, size_t *n)
{
  *n = 0;
  for (size_t i = 0; i < list->n; i++)
    if (named_add_assert(list->item[i], out, n) != 0)
      return -1;
  return 0;
}

int bn_named_check_labels(const struct bn_list *list)
{
  char masked[BN_MASK_MAX];

  for (size_t i = 0; i < list->n; i++) {
    const char *label = list->item[i];
    const size_t key_len = strcspn(label, "=");

    if (key_len == 0 || key_len > BN_LABEL_MAX || label[key_len] != '=') {
      bn_log_stderr("--label=%s: not KEY=VALUE, such as commit=1a2b3c",
                    bn_mask_text(label, masked));
      return -1;
    }
  }
  return 0;
}

/* Logs that there is no watcher of that name, with the names of all watchers. */
static void named_refuse_watcher(const char *name)
{
  struct bn_buf names = {0};
  char masked[BN_MASK_MAX];

  for (size_t i = 0; bn_registry_watchers[i] != NULL; i++)
    (void)bn_buf_printf(&names, "%s%s", i > 0 ? ", " : "", bn_registry_watchers[i]->name);
  bn_log_stderr("--watch=%s: unknown; allowed: %s", bn_mask_text(name, masked), names.data);
  bn_buf_done(&names);
}

/* Sets is_named[i] for the watcher of that name, number i of the registry.  Returns 0, or -1 after
   a message that there is none. */
static int named_mark_watcher(const char *name, bool is_named[BN_WATCHERS_MAX])
{
  for (size_t i = 0; bn_registry_watchers[i] != NULL; i++)
    if (strcmp(bn_registry_watchers[i]->name, name) == 0) {
      is_named[i] = true;
      return 0;
    }
  named_refuse_watcher(name);
  return -1;
}

int bn_named_find_watchers(const struct bn_list *list, bool is_first_host,
                           const struct bn_watcher **out, size_t *n)
{
  bool is_named[BN_WATCHERS_MAX] = {false};

  *n = 0;
  for (size_t i = 0; i < list->n; i++)
    if (named_mark_watcher(list->item[i], is_named) != 0)
      return -1;
  for (size_t i = 0; bn_registry_watchers[i] != NULL; i++)
    if (is_named[i] && (is_first_host || !bn_registry_watchers[i]->shared))
      out[(*n)++] = bn_registry_watchers[i];
  return 0;
}
