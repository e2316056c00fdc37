/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of bench's own report that are there only if something was lost. */
#include "report/reporters.h"

#include <string.h>

#include "cm.h"
#include "measure/metric.h"
#include "page.h"

/* Servers that lost no connection in this span have no line; a document may have any name. */
static void reports_the_servers_of_lost_connections(void **unused)
{
  static const struct bn_metric metrics[] = {
      {.name = "connection_wait", .unit = "ns"},
      {.name = "losses_by_server", .unit = "1", .kind = BN_LABELLED},
      {.name = "reconnects_by_server", .unit = "1", .kind = BN_LABELLED},
      {.name = NULL}};
  struct bn_label lost[] = {{"db1:3306", 60}, {"db2:3306", 0}}, made[] = {{"db\0332:3306", 59}};
  struct bn_label *label[] = {NULL, lost, made};
  size_t n_labels[] = {0, 2, 1};

  (void)unused;
  for (int own = 0; own < 2; own++)
    for (int losses = 0; losses < 2; losses++) {
      struct bn_page *p = bn_page_new(BN_V11, BN_KIND_SQL);
      static const char part[] = "\nConnections:\n"
                                 "    lost by db1:3306:                    60\n"
                                 "    reconnected to db\\x1b2:3306:         59\n"
                                 "    wait of all threads:                 12.346 s\n";

      p->plan->native = own != 0;
      bn_metrics_init(&p->delta.metrics, metrics);
      p->delta.label = label;
      p->delta.n_labels = n_labels;
      lost[0].n = losses ? 60 : 0;
      p->counter[BN_C_FIXED] = losses ? 12345600000 : 0;
      bn_page_skip_header(p);
      bn_page_total(p);
      (void)fflush(p->out);
      assert_true((strstr(p->text, part) != NULL) == (own && losses));
      assert_true((strstr(p->text, "Connections") != NULL) == (own && losses));
      bn_metrics_done(&p->delta.metrics);
      bn_page_free(p);
    }
}

static void reports_why_threads_failed(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_PLAIN);

  (void)unused;
  p->plan->native = true;
  p->view.failed_threads = 3;
  bn_facts_set_text(&p->facts, BN_THREAD_ERRORS, "x.lua:3", "x.lua:3: a\033[31m");
  bn_facts_set_real(&p->facts, BN_THREAD_ERROR_TIMES, "x.lua:3", 2.5);
  bn_facts_set_text(&p->facts, BN_THREAD_ERRORS, "1062", "Duplicate entry");
  bn_facts_set_real(&p->facts, BN_THREAD_ERROR_TIMES, "1062", -0.5);
  bn_page_skip_header(p);
  bn_page_total(p);
  (void)fflush(p->out);
  assert_non_null(strstr(p->text, "    failed threads:                      3\n"));
  assert_non_null(strstr(p->text, "\n\nFailed threads (first failure, first message):\n"
                                  "    x.lua:3:                             2.500 s  "
                                  "x.lua:3: a\\x1b[31m\n"
                                  "    1062:                                warm-up  "
                                  "Duplicate entry\n\n"));
  bn_facts_done(&p->facts);
  bn_page_free(p);
}

/* Threads add to the facts of the run while a view is printed. */
static void reads_errors_in_the_facts_of_the_view(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_PLAIN);
  struct bn_facts then = {.start_ns = 0};

  (void)unused;
  p->plan->native = true;
  p->view.failed_threads = 1;
  p->view.error_facts = &then;
  bn_facts_set_text(&then, BN_THREAD_ERRORS, "x.lua:3", "then");
  bn_facts_set_text(&p->facts, BN_THREAD_ERRORS, "x.lua:3", "now");
  bn_facts_set_text(&p->facts, BN_THREAD_ERRORS, "x.lua:4", "later");
  bn_page_skip_header(p);
  bn_page_checkpoint(p);
  (void)fflush(p->out);
  assert_non_null(strstr(p->text, "    x.lua:3:                             warm-up  then\n\n"));
  assert_null(strstr(p->text, "x.lua:4"));
  bn_facts_done(&then);
  bn_facts_done(&p->facts);
  bn_page_free(p);
}

/* Of a saved result, which has the facts of the whole run. */
static void a_checkpoint_has_the_failures_until_then(void **unused)
{
  struct bn_page *p = bn_page_new(BN_V11, BN_KIND_PLAIN);

  (void)unused;
  p->plan->native = true;
  p->view.failed_threads = 1;
  p->view.span = BN_VIEW_CHECKPOINT;
  p->view.at_s = 2;
  bn_facts_set_text(&p->facts, BN_THREAD_ERRORS, "x.lua:3", "first");
  bn_facts_set_real(&p->facts, BN_THREAD_ERROR_TIMES, "x.lua:3", 2);
  bn_facts_set_text(&p->facts, BN_THREAD_ERRORS, "x.lua:4", "second");
  bn_facts_set_real(&p->facts, BN_THREAD_ERROR_TIMES, "x.lua:4", 2.001);
  bn_page_skip_header(p);
  bn_page_checkpoint(p);
  (void)fflush(p->out);
  assert_non_null(strstr(p->text, "    x.lua:3:                             2.000 s  first\n\n"));
  assert_null(strstr(p->text, "x.lua:4"));
  bn_facts_done(&p->facts);
  bn_page_free(p);
}

BN_TESTS(text_losses)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reports_the_servers_of_lost_connections),
      cmocka_unit_test(reports_why_threads_failed),
      cmocka_unit_test(reads_errors_in_the_facts_of_the_view),
      cmocka_unit_test(a_checkpoint_has_the_failures_until_then),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
