/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text and the document of a study of two sides by pairs. */
#include "study/ab/abtell.h"

#include <string.h>

#include "base/escape.h"
#include "base/mask.h"
#include "base/units.h"
#include "measure/json_write.h"

const char *const bn_ab_names[BN_AB_ARMS] = {"a", "b", "aa"};

static const char *const verdicts[] = {[BN_COMPARE_UNKNOWN] = "cannot tell",
                                       [BN_COMPARE_BETTER] = "better",
                                       [BN_COMPARE_WORSE] = "worse",
                                       [BN_COMPARE_SAME] = "same",
                                       [BN_COMPARE_EQUAL] = "equal"};

/* Of the last look: what the study says at its end. */
static enum bn_compare_verdict verdict_of(const struct bn_look *l)
{
  return l->steady ? l->verdict : BN_COMPARE_UNKNOWN;
}

/* A word of a command line, of which secrets are not shown. */
static const char *masked(const char *word, char out[2 * BN_MASK_MAX])
{
  char value[BN_MASK_MAX];
  const char *shown = bn_mask_arg(word, false, value), *equals = strchr(word, '=');
  const char *rest = equals != NULL ? bn_mask_value(equals + 1, value) : NULL;

  if (shown != word || equals == NULL || rest == equals + 1 || equals - word >= BN_MASK_MAX) {
    if (shown == word)
      return word;
    (void)snprintf(out, 2 * BN_MASK_MAX, "%s", bn_mask_arg(word, false, value));
    return out;
  }
  (void)snprintf(out, 2 * BN_MASK_MAX, "%.*s%s", (int)(equals + 1 - word), word, rest);
  return out;
}

/* A statement may set a password without an option's form. */
static const char *masked_statement(const char *sql, char out[2 * BN_MASK_MAX])
{
  return strcasestr(sql, "identified") != NULL ? BN_MASK : masked(sql, out);
}

/* --- text --- */

static const char *percent(double ratio, char out[32])
{
  const double value = 100 * (ratio - 1);

  (void)snprintf(out, 32, "%+.*f %%", value < 99.995 ? 2 : value < 999.95 ? 1 : 0, value);
  return out;
}

static const char *number(double value, char out[32])
{
  (void)snprintf(out, 32, "%.*f", bn_units_decimals(value, 0), value);
  return out;
}

void bn_ab_tell_round(const struct bn_ab *ab, char *out, size_t size)
{
  const struct bn_ab_round *r = &ab->round[ab->n_rounds - 1];
  char a[32], b[32], again[32], ratio[32];

  (void)snprintf(out, size, "round %zu of at most %d: A %s, B %s (%s), A again %s %s", ab->n_rounds,
                 BN_LOOKS_PAIRS, number(r->value[BN_AB_A], a), number(r->value[BN_AB_B], b),
                 percent(r->value[BN_AB_B] / r->value[BN_AB_A], ratio),
                 number(r->value[BN_AB_AGAIN], again), bn_figure_unit(ab->metric));
}

static void print_word(struct bn_buf *out, const char *text)
{
  const bool plain = text[0] != '\0' && strpbrk(text, " \t\n\"'\\$`*?&|;<>()#~!{}[]") == NULL;
  char escaped[512];

  (void)bn_escape(escaped, sizeof escaped, text, "");
  (void)bn_buf_printf(out, plain ? " %s" : " '%s'", escaped);
}

static void print_side(const struct bn_ab *ab, unsigned side, struct bn_buf *out)
{
  const struct bn_arm *arm = &ab->side[side];
  char shown[2 * BN_MASK_MAX];

  (void)bn_buf_printf(out, "%c:", side == BN_AB_A ? 'A' : 'B');
  for (size_t i = 0; i < arm->words.n; i++)
    print_word(out, masked(arm->words.item[i], shown));
  (void)bn_buf_char(out, '\n');
  if (arm->statement != NULL) {
    (void)bn_buf_str(out, "   before each run:");
    print_word(out, masked_statement(arm->statement, shown));
    (void)bn_buf_char(out, '\n');
  }
}

static void print_ratio(const struct bn_compare_found *f, struct bn_buf *out)
{
  char mean[32], low[32], high[32];

  (void)bn_buf_printf(out, "  %9s %9s .. %9s", percent(f->ratio, mean),
                      percent(f->interval.low, low), percent(f->interval.high, high));
}

static void print_look(const struct bn_look *l, struct bn_buf *out)
{
  char a[32], b[32];

  (void)bn_buf_printf(out, "%5zu  %10s %10s", l->pairs, number(l->b.a, a), number(l->b.b, b));
  print_ratio(&l->b, out);
  print_ratio(&l->again, out);
  (void)bn_buf_char(out, '\n');
}

static void print_verdict(const struct bn_ab *ab, struct bn_buf *out)
{
  const struct bn_look *l = &ab->look[ab->n_looks - 1];
  char low[32], high[32];

  (void)percent(l->b.interval.low, low);
  (void)percent(l->b.interval.high, high);
  if (!l->steady)
    (void)bn_buf_printf(out,
                        "Verdict: cannot tell. The machine is not steady: A differs from itself "
                        "by %s to %s.\n",
                        percent(l->again.interval.low, low), percent(l->again.interval.high, high));
  else if (l->verdict == BN_COMPARE_UNKNOWN)
    (void)bn_buf_printf(out, "Verdict: cannot tell. After %zu pairs, the difference is %s to %s.\n",
                        l->pairs, low, high);
  else if (l->verdict == BN_COMPARE_EQUAL)
    (void)bn_buf_str(out, "Verdict: equal. All values are the same.\n");
  else if (l->verdict == BN_COMPARE_SAME)
    (void)bn_buf_printf(out, "Verdict: same within %g %%: %s to %s\n", 100 * ab->same, low, high);
  else
    (void)bn_buf_printf(out, "Verdict: B is %s: %s to %s\n", verdicts[l->verdict], low, high);
}

void bn_ab_print(const struct bn_ab *ab, struct bn_buf *out)
{
  print_side(ab, BN_AB_A, out);
  print_side(ab, BN_AB_B, out);
  (void)bn_buf_printf(out, "%s in %s, %s is better; %zu pairs, order by --seed=%llu\n\n",
                      ab->metric->text, bn_figure_unit(ab->metric),
                      ab->metric->better == BN_BETTER_MORE ? "more" : "less", ab->n_rounds,
                      (unsigned long long)ab->seed);
  if (ab->n_looks > 0)
    (void)bn_buf_printf(out, "pairs  %10s %10s  %9s %22s  %9s %22s\n", "A", "B", "B to A",
                        "interval", "A to A", "interval");
  for (size_t i = 0; i < ab->n_looks; i++)
    print_look(&ab->look[i], out);
  if (ab->n_looks > 0)
    (void)bn_buf_printf(out, "\nNoise: the ratio of two runs of A varies by %.2f %%.\n",
                        100 * ab->look[ab->n_looks - 1].again.noise);
  if (ab->ended)
    print_verdict(ab, out);
  else
    (void)bn_buf_printf(out, "Verdict: none, the study was interrupted by signal %d.\n", ab->signo);
}

/* --- document --- */

static struct bn_node *side_of(struct bn_json_out *p, const struct bn_arm *arm)
{
  struct bn_node *map = p->js->map(), *command = p->js->list();
  char shown[2 * BN_MASK_MAX];

  for (size_t i = 0; i < arm->words.n; i++)
    bn_json_add(p, command, bn_node_text(p->js, masked(arm->words.item[i], shown)));
  bn_json_put(p, map, "command", command);
  bn_json_put(
      p, map, "statement",
      bn_node_text(p->js, arm->statement != NULL ? masked_statement(arm->statement, shown) : NULL));
  return map;
}

static struct bn_node *round_of(struct bn_json_out *p, const struct bn_ab_round *r)
{
  struct bn_node *map = p->js->map(), *order = p->js->list();

  for (unsigned i = 0; i < BN_AB_ARMS; i++)
    bn_json_add(p, order, bn_node_text(p->js, bn_ab_names[r->order[i]]));
  bn_json_put(p, map, "order", order);
  for (unsigned i = 0; i < BN_AB_ARMS; i++)
    bn_json_put(p, map, bn_ab_names[i], p->js->real(r->value[i]));
  bn_json_put(p, map, "repeated", p->js->boolean(r->repeated));
  return map;
}

static struct bn_node *ratio_of(struct bn_json_out *p, const struct bn_compare_found *f)
{
  struct bn_node *map = p->js->map();

  bn_json_put(p, map, "ratio", p->js->real(f->ratio));
  bn_json_put(p, map, "low", p->js->real(f->interval.low));
  bn_json_put(p, map, "high", p->js->real(f->interval.high));
  bn_json_put(p, map, "noise", p->js->real(f->noise));
  return map;
}

static struct bn_node *look_of(struct bn_json_out *p, const struct bn_look *l, double level)
{
  struct bn_node *map = p->js->map();

  bn_json_put(p, map, "pairs", p->js->integer((int64_t)l->pairs));
  bn_json_put(p, map, "level", p->js->real(level));
  bn_json_put(p, map, "a", p->js->real(l->b.a));
  bn_json_put(p, map, "b", p->js->real(l->b.b));
  bn_json_put(p, map, "b_a", ratio_of(p, &l->b));
  bn_json_put(p, map, "aa_a", ratio_of(p, &l->again));
  bn_json_put(p, map, "steady", p->js->boolean(l->steady));
  bn_json_text(p, map, "verdict", verdicts[verdict_of(l)]);
  return map;
}

static void put_plan(struct bn_json_out *p, struct bn_node *map, const struct bn_ab *ab)
{
  struct bn_node *sides = p->js->map();

  bn_json_text(p, map, "format", "bench ab");
  bn_json_put(p, map, "version", p->js->integer(1));
  bn_json_text(p, map, "metric", ab->metric->text);
  bn_json_text(p, map, "unit", bn_figure_unit(ab->metric));
  bn_json_put(p, map, "better",
              bn_node_text(p->js, ab->metric->better == BN_BETTER_MORE ? "more" : "less"));
  bn_json_put(p, map, "same", p->js->real(ab->same));
  bn_json_put(p, map, "seed", p->js->integer((int64_t)ab->seed));
  bn_json_put(p, sides, "a", side_of(p, &ab->side[BN_AB_A]));
  bn_json_put(p, sides, "b", side_of(p, &ab->side[BN_AB_B]));
  bn_json_put(p, map, "sides", sides);
}

struct bn_node *bn_ab_document(const struct bn_store *js, const struct bn_ab *ab)
{
  struct bn_json_out p = {.js = js};
  struct bn_node *map = js->map(), *rounds = js->list(), *looks = js->list();
  const char *verdict = ab->ended ? verdicts[verdict_of(&ab->look[ab->n_looks - 1])] : NULL;

  put_plan(&p, map, ab);
  for (size_t i = 0; i < ab->n_rounds; i++)
    bn_json_add(&p, rounds, round_of(&p, &ab->round[i]));
  bn_json_put(&p, map, "rounds", rounds);
  for (size_t i = 0; i < ab->n_looks; i++)
    bn_json_add(&p, looks, look_of(&p, &ab->look[i], ab->level[i]));
  bn_json_put(&p, map, "looks", looks);
  bn_json_text(&p, map, "verdict", verdict);
  bn_json_put(&p, map, "signal", js->integer(ab->signo));
  return bn_json_finish(&p, map);
}
