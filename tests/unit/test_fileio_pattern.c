/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of requests: sequences, ratios, flush schedule, and that no two threads get one
   block. */
#include "cm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fileio/pattern.h"

struct source {
  struct bn_pattern p;
  struct bn_pattern_mix mix;
  struct bn_rng rng;
};

static void open_source(struct source *s, struct bn_pattern_conf conf)
{
  memset(s, 0, sizeof *s);
  if (conf.request == 0)
    conf.request = conf.block;
  bn_pattern_init(&s->p, &conf);
  bn_rng_seed(&s->rng, 3, BN_RNG_WORKLOAD, 0);
}

static struct bn_draw draw(struct source *s)
{
  struct bn_draw d = {.len = 0};

  assert_true(bn_pattern_draw(&s->p, &s->rng, &s->mix, &d));
  return d;
}

/* n draws as letters: R, W, or the number of the flushed file. */
static void draw_text(struct source *s, size_t n, char *out)
{
  for (size_t i = 0; i < n; i++) {
    const struct bn_draw d = draw(s);

    out[i] = d.op == BN_IO_READ ? 'R' : d.op == BN_IO_WRITE ? 'W' : (char)('0' + d.file);
  }
  out[n] = '\0';
}

static void check_text(const struct bn_pattern_conf *conf, const char *expected)
{
  struct source s;
  char got[128];

  open_source(&s, *conf);
  draw_text(&s, strlen(expected), got);
  assert_string_equal(got, expected);
  bn_pattern_done(&s.p);
}

static void ratio_patterns(void **state)
{
  struct bn_pattern_conf c = {.mode = BN_FILE_RNDRW, .files = 2, .span = 1024, .block = 256};
  static const struct {
    double ratio;
    const char *text;
  } cases[] = {
      {1.5, "RWRWRRWRWRRWRWR"}, {1, "WRWRWRWR"}, {4, "RRRWRRRRWRRRRW"},
      {0.5, "WWRWWRWWR"},       {0, "WWWWW"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    c.rw_ratio = cases[i].ratio;
    c.global_mix = i % 2 == 1;
    check_text(&c, cases[i].text);
  }
}

static void mix_is_per_session_or_global(void **state)
{
  struct bn_pattern_conf c = {
      .mode = BN_FILE_RNDRW, .files = 2, .span = 1024, .block = 256, .rw_ratio = 1};
  struct bn_pattern_mix other = {0};
  struct bn_draw d;
  struct source s;

  (void)state;
  open_source(&s, c);
  assert_int_equal(draw(&s).op, BN_IO_WRITE);
  assert_true(bn_pattern_draw(&s.p, &s.rng, &other, &d));
  assert_int_equal(d.op, BN_IO_WRITE);
  bn_pattern_done(&s.p);
  c.global_mix = true;
  other = (struct bn_pattern_mix){0};
  open_source(&s, c);
  assert_int_equal(draw(&s).op, BN_IO_WRITE);
  assert_true(bn_pattern_draw(&s.p, &s.rng, &other, &d));
  assert_int_equal(d.op, BN_IO_READ);
  bn_pattern_done(&s.p);
}

/* 24 events of the reference with 3 files and --file-fsync-freq=10: 20 requests and 4 flushes. */
static void flush_schedule(void **state)
{
  static const char golden[] = "WWWWWWWWWW012WWWWWWWWWW012W";
  struct bn_pattern_conf c = {.files = 3, .span = 4096, .block = 256, .fsync_freq = 10};

  (void)state;
  c.mode = BN_FILE_RNDWR;
  check_text(&c, golden);
  c.mode = BN_FILE_SEQWR;
  check_text(&c, golden);
  c.mode = BN_FILE_SEQREWR;
  check_text(&c, golden);
  c.mode = BN_FILE_RNDRW;
  c.rw_ratio = 1.5;
  check_text(&c, "RWRWRRWRWR012RWRWRRWRWR0");
}

/* A multiple of the frequency with no write since the last series is passed over. */
static void no_flush_without_a_write(void **state)
{
  struct bn_pattern_conf c = {.mode = BN_FILE_RNDRW,
                              .files = 2,
                              .span = 1024,
                              .block = 256,
                              .rw_ratio = 8,
                              .fsync_freq = 3};

  (void)state;
  check_text(&c, "RRRRRRRWR01RRRRRRR");
  c.mode = BN_FILE_RNDRD;
  check_text(&c, "RRRRRRRRRRRR");
}

static void sequence_ends_and_starts_again(void **state)
{
  const struct bn_pattern_conf c = {
      .mode = BN_FILE_SEQRD, .files = 2, .span = 1000, .block = 200, .request = 600};
  static const struct {
    unsigned file, offset, len;
  } golden[] = {{0, 0, 600}, {0, 600, 400}, {1, 0, 600}, {1, 600, 400}, {0, 0, 600}};
  struct source s;

  (void)state;
  open_source(&s, c);
  for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
    const struct bn_draw d = draw(&s);

    assert_int_equal(d.file, golden[i].file);
    assert_int_equal(d.offset, golden[i].offset);
    assert_int_equal(d.len, golden[i].len);
  }
  bn_pattern_done(&s.p);
}

/* All blocks come, aligned in their file, none past its end, about equally often. */
static void random_blocks(void **state)
{
  enum { FILES = 3, PER_FILE = 5, DRAWS = 30000 };
  const struct bn_pattern_conf c = {
      .mode = BN_FILE_RNDRD, .files = FILES, .span = 4 * 256 + 100, .block = 256};
  unsigned seen[FILES * PER_FILE] = {0};
  struct source s;

  (void)state;
  open_source(&s, c);
  for (int i = 0; i < DRAWS; i++) {
    const struct bn_draw d = draw(&s);

    assert_in_range(d.file, 0, FILES - 1);
    assert_int_equal(d.offset % 256, 0);
    assert_in_range(d.offset, 0, c.span - 1);
    assert_int_equal(d.len, d.offset == 4 * 256 ? 100 : 256);
    seen[d.file * PER_FILE + d.offset / 256]++;
  }
  /* 2000 expected, standard deviation 43: six of them. */
  for (size_t i = 0; i < FILES * PER_FILE; i++)
    assert_in_range(seen[i], 1740, 2260);
  bn_pattern_done(&s.p);
}

static void exclusive_blocks(void **state)
{
  const struct bn_pattern_conf c = {
      .mode = BN_FILE_RNDWR, .files = 2, .span = 1024, .block = 256, .exclusive = true};
  struct bn_draw d, first = {.len = 0};
  struct source s;
  bool used[8] = {false};
  unsigned n = 0;

  (void)state;
  open_source(&s, c);
  /* 32 tries may miss the last free blocks, so it may take several draws to get all eight. */
  for (int i = 0; i < 10000 && n < 8; i++) {
    if (!bn_pattern_draw(&s.p, &s.rng, &s.mix, &d))
      continue;
    assert_false(used[d.file * 4 + d.offset / 256]);
    used[d.file * 4 + d.offset / 256] = true;
    first = n++ == 0 ? d : first;
  }
  assert_int_equal(n, 8);
  assert_int_equal(s.p.requests, 8);
  assert_false(bn_pattern_draw(&s.p, &s.rng, &s.mix, &d));
  assert_int_equal(s.p.requests, 8);
  bn_pattern_release(&s.p, first.file, first.offset, first.op);
  while (!bn_pattern_draw(&s.p, &s.rng, &s.mix, &d))
    ;
  assert_int_equal(d.file, first.file);
  assert_int_equal(d.offset, first.offset);
  bn_pattern_done(&s.p);
}

enum { THREADS = 4, EACH = 20000 };

struct threads {
  struct bn_pattern *p;
  unsigned id, requests, flushes, worst_file, clashes;
};

static void *draw_blocks(void *arg)
{
  struct threads *c = arg;
  struct bn_pattern_mix mix = {0};
  struct bn_rng rng;
  struct bn_draw d;

  bn_rng_seed(&rng, 1, BN_RNG_WORKLOAD, c->id);
  for (int i = 0; i < EACH; i++) {
    (void)bn_pattern_draw(c->p, &rng, &mix, &d);
    c->flushes += d.op == BN_IO_FSYNC;
    c->requests += d.op != BN_IO_FSYNC;
    if (d.file > c->worst_file)
      c->worst_file = d.file;
  }
  return NULL;
}

/* Runs `work` in all threads, and waits for their ends. */
static void threads_run(struct threads *threads, struct source *s, void *(*work)(void *))
{
  pthread_t thread[THREADS];

  for (unsigned i = 0; i < THREADS; i++) {
    threads[i] = (struct threads){.p = &s->p, .id = i};
    assert_int_equal(pthread_create(&thread[i], NULL, work, &threads[i]), 0);
  }
  for (unsigned i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(thread[i], NULL), 0);
}

/* The schedule is exact whatever the threads do: 10 requests, 3 flushes. */
static void threads_keep_the_schedule(void **state)
{
  const struct bn_pattern_conf c = {
      .mode = BN_FILE_RNDWR, .files = 3, .span = 1 << 20, .block = 256, .fsync_freq = 10};
  const unsigned total = THREADS * EACH;
  unsigned requests = 0, flushes = 0;
  struct threads threads[THREADS];
  struct source s;

  (void)state;
  open_source(&s, c);
  threads_run(threads, &s, draw_blocks);
  for (unsigned i = 0; i < THREADS; i++) {
    requests += threads[i].requests;
    flushes += threads[i].flushes;
    assert_in_range(threads[i].worst_file, 0, 2);
  }
  /* 80000 = 6153 * 13 + 11: a last series has flushed one file. */
  assert_int_equal(total, 80000);
  assert_int_equal(requests, 6153 * 10 + 10);
  assert_int_equal(flushes, 6153 * 3 + 1);
  bn_pattern_done(&s.p);
}

/* Marks of the two blocks, which threads set while they have them. */
static atomic_bool taken[2];

static void *take_blocks(void *arg)
{
  struct threads *c = arg;
  struct bn_pattern_mix mix = {0};
  struct bn_rng rng;
  struct bn_draw d;

  bn_rng_seed(&rng, 1, BN_RNG_WORKLOAD, c->id);
  while (c->requests < EACH / 10) {
    if (!bn_pattern_draw(c->p, &rng, &mix, &d))
      continue;
    c->requests++;
    c->clashes += atomic_exchange_explicit(&taken[d.offset / 256], true, memory_order_relaxed);
    atomic_store_explicit(&taken[d.offset / 256], false, memory_order_relaxed);
    bn_pattern_release(c->p, d.file, d.offset, d.op);
  }
  return NULL;
}

static void threads_have_no_block_together(void **state)
{
  const struct bn_pattern_conf c = {
      .mode = BN_FILE_RNDWR, .files = 1, .span = 512, .block = 256, .exclusive = true};
  struct threads threads[THREADS];
  struct source s;

  (void)state;
  open_source(&s, c);
  threads_run(threads, &s, take_blocks);
  for (unsigned i = 0; i < THREADS; i++)
    assert_int_equal(threads[i].clashes, 0);
  bn_pattern_done(&s.p);
}

BN_TESTS(fileio_pattern)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ratio_patterns),
      cmocka_unit_test(mix_is_per_session_or_global),
      cmocka_unit_test(flush_schedule),
      cmocka_unit_test(no_flush_without_a_write),
      cmocka_unit_test(sequence_ends_and_starts_again),
      cmocka_unit_test(random_blocks),
      cmocka_unit_test(exclusive_blocks),
      cmocka_unit_test(threads_keep_the_schedule),
      cmocka_unit_test(threads_have_no_block_together),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
