/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands for gnuplot: texts that end no string, points, gaps and bars. */
#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/plot/plotscript.h"

static char *script_of(const struct bn_chart *c, enum bn_plot_form form)
{
  const struct bn_canvas canvas = {.form = form, .columns = 79, .rows = bn_plotscript_rows(c)};
  struct bn_buf out = {.max = 0};

  assert_int_equal(bn_plotscript(&out, c, &canvas), 0);
  return bn_buf_take(&out);
}

static void expect(const char *script, const char *part)
{
  if (strstr(script, part) == NULL)
    fail_msg("no '%s' in:\n%s", part, script);
}

/* In each line every quote is closed, and none begins inside of a text. */
static void expect_closed(const char *script)
{
  size_t quotes = 0;

  for (const char *c = script; *c != '\0'; c++) {
    quotes += *c == '\'';
    assert_true(*c != '\'' || quotes % 2 == 0 || c[1] != '\'' || c[2] != '\'');
    assert_true(*c != '\n' || quotes % 2 == 0);
    assert_true((unsigned char)*c >= ' ' || *c == '\n');
  }
}

static void make_chart(struct bn_chart *c, const char *text)
{
  const struct bn_chart_point points[] = {{.x = 1, .y = 10, .low = 9, .high = 12},
                                          {.x = 2, .y = NAN},
                                          {.x = 3, .y = 30, .low = 30, .high = 30}};
  struct bn_chart_panel *p;
  struct bn_chart_series *s;

  *c = (struct bn_chart){.x = BN_CHART_NUMBER};
  (void)snprintf(c->title, sizeof c->title, "%s", text);
  (void)snprintf(c->note, sizeof c->note, "%s", text);
  (void)snprintf(c->x_title, sizeof c->x_title, "%.64s", text);
  p = bn_chart_panel(c, "Rate", BN_CHART_PER_S);
  s = bn_chart_series(p, text, BN_CHART_BARS, 0);
  assert_non_null(s);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(bn_chart_point(s, &points[i]), 0);
    assert_int_equal(bn_chart_mark(c, points[i].x, text), 0);
  }
}

static void no_text_ends_its_string(void **state)
{
  static const char *const texts[] = {"'",     "''; !x; ''", "a\nb",      "a\r\nsystem 'x'",
                                      "\\",    "end",        "`x`",       "$(x)",
                                      "%s%n%", "\x1b[1m",    "\xff\xfe'", "\"'\"'"};

  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    for (enum bn_plot_form form = BN_PLOT_TEXT; form <= BN_PLOT_PNG; form++) {
      struct bn_chart c;
      char *script;

      make_chart(&c, texts[i]);
      script = script_of(&c, form);
      expect_closed(script);
      free(script);
      bn_chart_done(&c);
    }
}

static void long_names_lose_their_middle(void **state)
{
  struct bn_chart c;
  char *script;

  (void)state;
  make_chart(&c, "ääääääääääääääääääääääääääääääääääääääääend");
  script = script_of(&c, BN_PLOT_SVG);
  expect(script, "title 'ääääääääääääää...ääääääääääääend'\n");
  free(script);
  bn_chart_done(&c);
}

static void points_bars_and_gaps(void **state)
{
  struct bn_chart c;
  char *script;

  (void)state;
  make_chart(&c, "50 %");
  script = script_of(&c, BN_PLOT_SVG);
  expect(script, "$data0_0 << end\n1 10 9 12\n2 NaN NaN NaN\n3 30 30 30\nend\n");
  expect(script, "using 1:2:3:4 with yerrorbars");
  expect(script, "set xtics ('50 %%' 1, ");
  expect(script, "set yrange [0:30]\n");
  free(script);
  bn_chart_done(&c);
}

static void bars_stand_beside_each_other(void **state)
{
  struct bn_chart c;
  struct bn_chart_series *s;
  char *script;

  (void)state;
  make_chart(&c, "x");
  s = bn_chart_series(&c.panel[0], "y", BN_CHART_BARS, 1);
  assert_non_null(s);
  assert_int_equal(bn_chart_point(s, &(struct bn_chart_point){.x = 1, .y = 5, .low = 5, .high = 5}),
                   0);
  script = script_of(&c, BN_PLOT_SVG);
  /* The axis goes from 0.94 to 3.06, of which 0.01 are shared by two. */
  expect(script, "$data0_0 << end\n0.9947 10 9 12\n");
  expect(script, "$data0_1 << end\n1.0053 5 5 5\n");
  free(script);
  script = script_of(&c, BN_PLOT_TEXT);
  expect(script, "$data0_1 << end\n1 5 5 5\n");
  free(script);
  bn_chart_done(&c);
}

BN_TESTS(plotscript)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_text_ends_its_string),
      cmocka_unit_test(long_names_lose_their_middle),
      cmocka_unit_test(points_bars_and_gaps),
      cmocka_unit_test(bars_stand_beside_each_other),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
