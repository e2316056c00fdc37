/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the result that a host sends, which is an honest one with changed bytes, or any text: it
   is refused by a sentence, or it can be summed with that of another host and printed.  In no case
   is the other host's result lost. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/hostresult.h"
#include "api/policy.h"
#include "hosts/merged_result.h"
#include "hosts/validate.h"
#include "measure/store.h"
#include "patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HOSTS = 2, EVENTS = 500 };

static void must(bool holds)
{
  if (!holds)
    abort();
}

static char *honest_text(void)
{
  struct bn_result r = {.n_groups = 0};
  struct bn_node *document;
  size_t len = 0;
  char *text;

  make_result(&r, 100 * SEC, EVENTS);
  document = bn_store_document(&r, NULL);
  text = bn_node_print(document, 0, &len);
  must(text != NULL);
  bn_node_free(document);
  bn_result_done(&r);
  return text;
}

static void begin(struct bn_valid_spec *as, const struct bn_result *r)
{
  struct bn_node *group = bn_node_map();
  struct bn_err err = {.code = 0};

  must(bn_node_set(group, "name", bn_node_utf8("cpu")) == 0);
  must(bn_node_set(group, "metrics", bn_store_metrics(&r->group[0].total.delta.metrics)) == 0);
  must(bn_valid_read_spec(as, group, &r->facts, HOSTS, &err) == 0);
  bn_node_free(group);
}

static void print(const struct bn_result *r)
{
  struct bn_node *document = bn_store_document(r, NULL);
  size_t len = 0;
  char *text = document != NULL ? bn_node_print(document, 0, &len) : NULL;

  must(text != NULL);
  free(text);
  bn_node_free(document);
}

static void check_watched(const struct bn_view *v, bool shared)
{
  for (size_t i = 0; i < v->n_watched; i++)
    must(isfinite(v->watched[i].value) && bn_watched_is_shared(v->watched[i].name) == shared);
}

/* other: of the same run, from a host that may say anything. */
static void sum(struct bn_result *other)
{
  static const struct bn_policy policy = {.dialect = NULL};
  static const struct bn_conf conf = {.policy = &policy};
  const struct bn_merged_result_start start = {
      .mono_ns = 100 * SEC, .wall_ns = 2000 * SEC, .until_ns = 110 * SEC};
  struct bn_optset *options = bn_optset_new(&policy);
  static const struct bn_group_layout hosts = {.n = 0};
  const struct bn_merged_result_request of = {.conf = &conf, .options = options, .groups = &hosts};
  struct bn_result honest = {.n_groups = 0}, out;
  char names[HOSTS][2] = {"a", "b"};
  struct bn_merged_result_part part[HOSTS] = {{.member = {.host = names[0]}, .result = other},
                                              {.member = {.host = names[1]}, .result = &honest}};
  struct bn_err err = {.code = 0};

  make_result(&honest, 100 * SEC, EVENTS);
  must(bn_merged_result_make(part, HOSTS, &start, &of, &out, &err) == 0);
  must(out.n_groups == 1 + HOSTS && out.group[2].member->lost == NULL);
  must(out.group[0].total.view.events >= EVENTS);
  check_watched(&out.group[0].total.view, true);
  for (size_t i = 1; i < out.n_groups; i++)
    check_watched(&out.group[i].total.view, false);
  print(&out);
  bn_result_done(&out);
  bn_result_done(&honest);
  bn_optset_free(options);
}

static void take(const char *data, size_t len)
{
  struct bn_buf text = {.max = 0};
  struct bn_result said = {.n_groups = 0}, out;
  struct bn_valid_spec as;
  struct bn_err err = {.code = 0};

  make_result(&said, 100 * SEC, EVENTS);
  begin(&as, &said);
  must(bn_buf_add(&text, data, len) == 0);
  if (bn_valid_read_result(&as, &text, true, &out, &err) == 0)
    sum(&out);
  else
    must(err.text[0] != '\0');
  bn_result_done(&out);
  bn_buf_done(&text);
  bn_valid_done(&as);
  bn_result_done(&said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static char *honest;
  char *copy;
  size_t len;

  if (honest == NULL)
    honest = honest_text();
  if (size == 0)
    return 0;
  if (data[0] == 0) {
    take((const char *)data + 1, size - 1);
    return 0;
  }
  len = strlen(honest);
  copy = malloc(len);
  must(copy != NULL);
  memcpy(copy, honest, len);
  (void)patch(copy, len, size, data, size);
  take(copy, len);
  free(copy);
  return 0;
}
