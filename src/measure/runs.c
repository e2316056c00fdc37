/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the times of runs in their results and facts, and how much of them is common to all. */
#include "measure/runs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

enum { KEY_SIZE = 64 };

/* Prints the key of a fact about run i, such as "part_1_file", and returns it. */
static const char *runs_key_of(char key[KEY_SIZE], size_t i, const char *suffix)
{
  (void)snprintf(key, KEY_SIZE, "part_%zu_%s", i + 1, suffix);
  return key;
}

int bn_runs_find_end(const struct bn_result *r, uint64_t *wall_ns)
{
  const struct bn_snap *total = &r->group[0].total.delta;
  const struct bn_facts *f = &r->facts;
  uint64_t took_ns; /* from the start of the run to the end of the total */

  if (f->start_wall_ns == 0) /* not known */
    return -1;
  /* A document may have any number: no difference or sum below may wrap around. */
  if (total->at_ns > INT64_MAX || f->start_wall_ns > INT64_MAX)
    return -1;
  if (total->at_ns < f->start_ns || total->at_ns < total->span_ns)
    return -1;
  took_ns = total->at_ns - f->start_ns;
  if (took_ns > INT64_MAX - f->start_wall_ns)
    return -1;
  *wall_ns = f->start_wall_ns + took_ns;
  return total->span_ns <= *wall_ns ? 0 : -1;
}

/* Adds a copy of a run, which borrows its texts.  Returns 0, or -1 and err if there is no room. */
static int runs_append(struct bn_runs *runs, const struct bn_stored_run *run, struct bn_err *err)
{
  if (runs->n == BN_RUNS_MAX)
    return bn_err_set(err, EFBIG, "there are more than %d runs", BN_RUNS_MAX);
  runs->run[runs->n++] = *run;
  return 0;
}

/* Adds the run of a result that was not merged.  Returns 0, or -1 and err. */
static int runs_add_single(struct bn_runs *runs, const struct bn_part *part, struct bn_err *err)
{
  const struct bn_result *r = part->result;
  const struct bn_snap *total = &r->group[0].total.delta;
  const char *host = bn_facts_find_text(&r->facts, "host", "name");
  struct bn_stored_run run = {.part = part->name,
                              .file = part->name, /* not merged, so it is the original */
                              .host = host != NULL ? host : ""};

  if (bn_runs_find_end(r, &run.end_wall_ns) != 0)
    return bn_err_set(err, EINVAL, "'%s' does not contain the times of its run", part->name);
  /* bn_runs_find_end() has checked that the span is not longer than either time. */
  run.start_wall_ns = run.end_wall_ns - total->span_ns;
  run.start_ns = total->at_ns - total->span_ns;
  (void)snprintf(run.seed, sizeof run.seed, "%" PRIu64, r->facts.plan.seed);
  return runs_append(runs, &run, err);
}

/* Returns a text about run i of a merged result, or NULL. */
static const char *runs_find_text(const struct bn_facts *f, size_t i, const char *suffix)
{
  char key[KEY_SIZE];

  return bn_facts_find_text(f, BN_RUNS_SECTION, runs_key_of(key, i, suffix));
}

/* Returns a time of run i of a merged result, or 0 if the facts lack it or have an impossible
   one. */
static uint64_t runs_find_time(const struct bn_facts *f, size_t i, const char *suffix)
{
  char key[KEY_SIZE];
  const struct bn_fact *fact = bn_facts_find(f, BN_RUNS_SECTION, runs_key_of(key, i, suffix));
  const bool is_time = fact != NULL && fact->type == BN_FACT_WHOLE && fact->whole > 0;

  return is_time ? (uint64_t)fact->whole : 0;
}

/* Reads run i from the facts of a merged result.  Returns 0, or -1 if they do not hold it. */
static int runs_read_one(struct bn_stored_run *run, const struct bn_facts *f, size_t i)
{
  const char *seed = runs_find_text(f, i, "seed");

  *run = (struct bn_stored_run){.file = runs_find_text(f, i, "file"),
                                .host = runs_find_text(f, i, "host"),
                                .start_ns = runs_find_time(f, i, "start_ns"),
                                .start_wall_ns = runs_find_time(f, i, "start_wall_ns"),
                                .end_wall_ns = runs_find_time(f, i, "end_wall_ns")};
  (void)snprintf(run->seed, sizeof run->seed, "%s", seed != NULL ? seed : "");
  if (run->file == NULL || run->host == NULL || seed == NULL || run->start_wall_ns == 0 ||
      run->start_wall_ns > run->end_wall_ns)
    return -1;
  return 0;
}

/* Refuses a merged result whose facts do not name its runs.  Returns -1. */
static int runs_refuse_without_list(const struct bn_part *part, struct bn_err *err)
{
  return bn_err_set(err, EINVAL, "'%s' is a merged result without the list of its runs",
                    part->name);
}

/* Adds the n runs of a result that was merged itself.  Returns 0, or -1 and err. */
static int runs_add_merged(struct bn_runs *runs, const struct bn_part *part, int64_t n,
                           struct bn_err *err)
{
  for (int64_t i = 0; i < n; i++) {
    struct bn_stored_run run;

    if (runs_read_one(&run, &part->result->facts, (size_t)i) != 0)
      return runs_refuse_without_list(part, err);
    run.part = part->name;
    if (runs_append(runs, &run, err) != 0)
      return -1;
  }
  return 0;
}

int bn_runs_add(struct bn_runs *runs, const struct bn_part *part, struct bn_err *err)
{
  const struct bn_fact *n_parts = bn_facts_find(&part->result->facts, BN_RUNS_SECTION, "parts");

  if (n_parts == NULL) /* only merged results have the fact */
    return runs_add_single(runs, part, err);
  if (n_parts->type != BN_FACT_WHOLE || n_parts->whole < 1)
    return runs_refuse_without_list(part, err);
  return runs_add_merged(runs, part, n_parts->whole, err);
}

/* Orders runs by their starts, and runs that started together by their hosts and seeds, so that the
   order of the parts makes no difference. */
static int runs_compare(const void *a, const void *b)
{
  const struct bn_stored_run *p = a, *q = b;

  if (p->start_wall_ns != q->start_wall_ns)
    return p->start_wall_ns < q->start_wall_ns ? -1 : 1;
  if (p->start_ns != q->start_ns)
    return p->start_ns < q->start_ns ? -1 : 1;

  const int by_host = strcmp(p->host, q->host);

  return by_host != 0 ? by_host : strcmp(p->seed, q->seed);
}

/* Returns whether both are the same run.  Times of day are not compared: if the clock was set
   during the run, those of its journal differ from those of its document. */
static bool runs_are_same(const struct bn_stored_run *a, const struct bn_stored_run *b)
{
  return a->start_ns == b->start_ns && strcmp(a->host, b->host) == 0 &&
         strcmp(a->seed, b->seed) == 0;
}

int bn_runs_check_distinct(const struct bn_runs *runs, struct bn_err *err)
{
  for (size_t i = 0; i < runs->n; i++)
    for (size_t k = i + 1; k < runs->n; k++)
      if (runs_are_same(&runs->run[i], &runs->run[k]))
        return bn_err_set(err, EINVAL, "'%s' and '%s' hold the same run, which would count twice",
                          runs->run[i].part, runs->run[k].part);
  return 0;
}

/* Sorts the runs, and computes how long they took together, and the share in which all ran. */
void bn_runs_settle(struct bn_runs *runs)
{
  uint64_t last_start_ns = 0, first_end_ns = UINT64_MAX;
  /* The latest end so far.  The runs come in the order of their starts, so a run adds to the union
     only its time after it. */
  uint64_t covered_ns = 0;

  qsort(runs->run, runs->n, sizeof *runs->run, runs_compare);
  runs->union_ns = 0;
  for (size_t i = 0; i < runs->n; i++) {
    const struct bn_stored_run *r = &runs->run[i];
    const uint64_t from_ns = bn_clock_max(r->start_wall_ns, covered_ns);

    if (r->end_wall_ns > from_ns) {
      runs->union_ns += r->end_wall_ns - from_ns;
      covered_ns = r->end_wall_ns;
    }
    last_start_ns = r->start_wall_ns;
    first_end_ns = bn_clock_min(first_end_ns, r->end_wall_ns);
  }

  const uint64_t common_ns = bn_clock_between(last_start_ns, first_end_ns);

  runs->overlap = 1; /* if no run took any time */
  if (runs->union_ns > 0)
    runs->overlap = (double)common_ns / (double)runs->union_ns;
}

void bn_runs_add_facts(const struct bn_runs *runs, struct bn_facts *f)
{
  if (runs->n > 1)
    bn_facts_add_row(f, BN_NOTICE, BN_RUNS_ROW "%zu runs, which took %.4g s; overlap: %.1f %%\n\n",
                     runs->n, (double)runs->union_ns * 1e-9, 100 * runs->overlap);
  bn_facts_set_whole(f, BN_RUNS_SECTION, "parts", (int64_t)runs->n);
  bn_facts_set_real(f, BN_RUNS_SECTION, "overlap", runs->overlap);
  bn_facts_set_real(f, BN_RUNS_SECTION, "union_s", (double)runs->union_ns * 1e-9);
  for (size_t i = 0; i < runs->n; i++) {
    const struct bn_stored_run *r = &runs->run[i];
    char key[KEY_SIZE];

    bn_facts_set_text(f, BN_RUNS_SECTION, runs_key_of(key, i, "file"), r->file);
    bn_facts_set_text(f, BN_RUNS_SECTION, runs_key_of(key, i, "host"), r->host);
    bn_facts_set_text(f, BN_RUNS_SECTION, runs_key_of(key, i, "seed"), r->seed);
    bn_facts_set_whole(f, BN_RUNS_SECTION, runs_key_of(key, i, "start_ns"), (int64_t)r->start_ns);
    bn_facts_set_whole(f, BN_RUNS_SECTION, runs_key_of(key, i, "start_wall_ns"),
                       (int64_t)r->start_wall_ns);
    bn_facts_set_whole(f, BN_RUNS_SECTION, runs_key_of(key, i, "end_wall_ns"),
                       (int64_t)r->end_wall_ns);
  }
}
