/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tickets: in a million random interleavings, on a clock of this test's own, none is lost and none
   is spent twice. */
#include "cm.h"

#include <pthread.h>
#include <string.h>

#include "base/rng.h"
#include "engine/quota.h"

enum { SESSIONS_MAX = 8, DEPTH_MAX = 5, STEPS = 1000000 };

enum phase { WARMUP, FROZEN, TAKEN, COUNTING };

struct session {
  struct bn_quota_share *share;
  struct bn_stat *st;
  unsigned depth, in_flight;
  bool claimed; /* and not begun yet */
  bool left, spent, gave_up;
  uint64_t start[DEPTH_MAX];  /* of those in flight, the oldest first */
  uint64_t ended, warm_ended; /* counted events: all; those before the baseline */
  uint64_t warm;              /* by_start: ended events of the warm-up */
  uint64_t failed;            /* for good: their tickets are spent */
  uint64_t extra;             /* the event that one_more gives */
};

struct game {
  struct bn_rng rng;
  struct bn_statset stats;
  struct bn_quota quota;
  struct session session[SESSIONS_MAX];
  unsigned n, here;
  bool one_more, by_start, warmup,
      spent; /* spent: who left last found that there were no tickets */
  uint64_t events, per_session, until_ns, measure_ns, now_ns;
  enum phase phase;
  uint64_t baseline[SESSIONS_MAX];
  uint64_t kept; /* for what was in flight at the baseline */
  uint64_t claimed, dropped;
};

static void start(struct game *g)
{
  const struct bn_quota_plan plan = {.events = g->events,
                                     .per_session = g->per_session,
                                     .sessions = g->n,
                                     .others = 1,
                                     .warmup = g->warmup,
                                     .one_more = g->one_more,
                                     .by_start = g->by_start,
                                     .stat = g->stats.stat};

  bn_quota_init(&g->quota, &plan);
  g->here = g->n;
  g->spent = false;
  g->phase = g->warmup ? WARMUP : COUNTING;
  g->now_ns = g->kept = g->claimed = g->dropped = 0;
  memset(g->session, 0, sizeof g->session);
  for (unsigned i = 0; i < g->n; i++) {
    g->session[i].share = &g->quota.share[i];
    g->session[i].st = g->stats.stat[i];
    g->session[i].depth = 1;
  }
  bn_quota_open(&g->quota, g->until_ns, g->measure_ns);
}

/* --- what a worker does --- */

static void begin(const struct game *g, struct session *s)
{
  s->claimed = false;
  s->start[s->in_flight++] = g->now_ns;
  if (g->now_ns >= g->measure_ns)
    bn_quota_note_begun(s->share);
  bn_stat_bump(&s->st->begun_at, g->now_ns);
  bn_stat_bump(&s->st->begun, 1);
}

/* Returns when the oldest one was begun. */
static uint64_t take_off(struct session *s)
{
  const uint64_t start = s->start[0];

  s->in_flight--;
  memmove(s->start, s->start + 1, s->in_flight * sizeof *s->start);
  bn_stat_bump(&s->st->ended_at, start);
  bn_stat_bump(&s->st->ended, 1);
  return start;
}

static void end(const struct game *g, struct session *s)
{
  if (take_off(s) < g->measure_ns && g->by_start) {
    bn_stat_bump(&s->st->warm_events, 1);
    bn_quota_note_warm_end(s->share);
    s->warm++;
    return;
  }
  bn_stat_count(s->st, BN_C_EVENTS, 1);
  s->ended++;
}

static void drop(struct game *g, struct session *s)
{
  const uint64_t start = take_off(s);

  bn_quota_unclaim(s->share, start < g->measure_ns);
  g->dropped++;
}

/* For good. */
static void fail_one(struct game *g, struct session *s)
{
  const bool warm = take_off(s) < g->measure_ns && g->by_start;

  if (warm || !(g->by_start || s->share->charged))
    g->dropped++;
  else
    s->failed++;
  bn_quota_fail(s->share, warm);
}

/* After the baseline, of those that it does not hold. */
static uint64_t done_by(const struct session *s)
{
  return s->ended - s->warm_ended + s->failed;
}

static void note_extra(const struct game *g, struct session *s, bool counted)
{
  if (g->one_more && s->share->charged && !counted)
    s->extra = s->ended - s->warm_ended + s->in_flight > 0;
}

static void leave(struct game *g, struct session *s, bool spent)
{
  const bool counted = s->share->charged, fails = !spent && g->now_ns % 2 == 0;

  if (s->in_flight > 0 || s->claimed || bn_quota_leave(s->share, fails) == BN_QUOTA_FROZEN)
    return;
  note_extra(g, s, counted);
  s->left = true;
  s->spent = spent;
  s->gave_up = fails && g->per_session != 0;
  g->spent = spent;
  g->here--;
}

/* Workers ask the quick question first; that must make no difference. */
static enum bn_admission ask(const struct game *g, struct session *s)
{
  const bool quick =
      g->events != 0 && g->claimed % 3 != 0 && bn_quota_claim_fast(s->share, g->now_ns);

  return quick ? BN_QUOTA_YES : bn_quota_claim(s->share, g->now_ns);
}

static enum bn_admission claim(struct game *g, struct session *s)
{
  const bool counted = s->share->charged;
  const enum bn_admission answer = ask(g, s);

  note_extra(g, s, counted);
  switch (answer) {
  case BN_QUOTA_YES:
    assert_true(g->now_ns < g->until_ns);
    assert_true(g->phase == WARMUP || g->phase == COUNTING);
    s->claimed = true;
    g->claimed++;
    break;
  case BN_QUOTA_FROZEN:
    assert_true(g->phase == FROZEN || g->phase == TAKEN ||
                (g->phase == WARMUP && g->by_start && g->now_ns >= g->measure_ns));
    break;
  case BN_QUOTA_TIME_UP:
    assert_true(g->now_ns >= g->until_ns);
    leave(g, s, false);
    break;
  case BN_QUOTA_SPENT:
    assert_int_equal(g->phase, COUNTING);
    if (g->per_session == 0)
      assert_int_equal(bn_quota_unused(&g->quota), 0);
    leave(g, s, true);
    break;
  case BN_QUOTA_CLOSED:
    fail_msg("nobody closed it");
  }
  return answer;
}

/* --- what the watching thread does --- */

static uint64_t warm_in_flight(const struct game *g, const struct session *s)
{
  uint64_t n = 0;

  for (unsigned i = 0; i < s->in_flight; i++)
    n += s->start[i] < g->measure_ns;
  return n;
}

/* How many of a session's tickets count as taken. */
static uint64_t taken_of(const struct game *g, const struct session *s, uint64_t n)
{
  if (s->gave_up)
    return g->per_session;
  return g->per_session != 0 && n > g->per_session ? g->per_session : n;
}

/* Tickets for what the baseline does not hold of what began before it. */
static uint64_t kept(const struct game *g)
{
  uint64_t n = 0;

  for (unsigned i = 0; i < g->n; i++) {
    const struct session *s = &g->session[i];
    const uint64_t mine = done_by(s) + s->in_flight + s->claimed;

    n += taken_of(g, s,
                  (g->one_more && mine > 0 ? mine - 1 : mine) -
                      (g->by_start ? warm_in_flight(g, s) : 0));
  }
  return n;
}

static void go_on(struct game *g)
{
  switch (g->phase) {
  case WARMUP:
    bn_quota_freeze(&g->quota);
    g->phase = FROZEN;
    break;
  case FROZEN:
    for (unsigned i = 0; i < g->n; i++)
      g->baseline[i] = g->session[i].warm_ended = g->by_start ? 0 : g->session[i].ended;
    g->phase = TAKEN;
    break;
  case TAKEN:
    bn_quota_thaw(&g->quota, g->baseline);
    g->kept = atomic_load(&g->quota.taken);
    assert_int_equal(g->kept, g->events == 0 ? 0 : kept(g));
    g->phase = COUNTING;
    break;
  case COUNTING:
    break;
  }
}

/* --- what must hold --- */

static uint64_t finished(const struct game *g)
{
  uint64_t n = 0;

  for (unsigned i = 0; i < g->n; i++)
    n += done_by(&g->session[i]);
  return n;
}

/* With per_session, each session is on its own: who found no ticket has done all its events. */
static void check_each(const struct game *g)
{
  for (unsigned i = 0; i < g->n; i++) {
    const struct session *s = &g->session[i];
    const uint64_t kept = s->share->kept;

    if (!g->one_more)
      assert_true(done_by(s) <= (g->per_session > kept ? g->per_session : kept));
    if (s->spent && kept <= g->per_session)
      assert_int_equal(done_by(s), g->per_session + s->extra);
  }
}

/* For sessions that have not asked since, what was kept stands for finished and in flight. */
static void check(const struct game *g)
{
  uint64_t used = 0, extra = 0, in_flight = 0, all = 0;

  for (unsigned i = 0; i < g->n; i++) {
    const struct session *s = &g->session[i];
    const uint64_t mine = done_by(s) + s->in_flight + s->claimed;

    all += s->ended + s->warm + s->failed;
    in_flight += s->in_flight + s->claimed;
    extra += s->extra;
    used += taken_of(g, s,
                     s->share->charged ? mine - s->extra - s->share->ticketless + s->share->reserved
                                       : s->share->kept);
  }
  assert_int_equal(g->claimed, all + g->dropped + in_flight);
  if (g->phase != COUNTING)
    return;
  assert_int_equal(atomic_load(&g->quota.taken), used);
  if (g->per_session != 0) {
    check_each(g);
    return;
  }
  if (!g->one_more)
    assert_true(finished(g) <= (g->events > g->kept ? g->events : g->kept));
  if (g->here > 0 || !g->spent)
    return;
  /* Who left last found no ticket: all have been spent, on events that ended. */
  assert_int_equal(finished(g), atomic_load(&g->quota.taken) + extra);
  if (g->kept <= g->events)
    assert_int_equal(finished(g), g->events + extra);
}

static void step(struct game *g)
{
  struct session *s = &g->session[bn_rng_below(&g->rng, g->n)];
  const uint64_t what = bn_rng_below(&g->rng, 1000);

  g->now_ns++;
  if (what < 10 && (!g->by_start || g->now_ns >= g->measure_ns))
    go_on(g);
  else if (s->left)
    return;
  else if (what < 12)
    leave(g, s, false);
  else if (what < 350 && !s->claimed && s->in_flight < s->depth)
    (void)claim(g, s);
  else if (what < 650 && s->claimed)
    begin(g, s);
  else if (what < 980 && s->in_flight > 0)
    end(g, s);
  else if (what < 990 && s->in_flight > 0)
    fail_one(g, s);
  else if (s->in_flight > 0)
    drop(g, s);
}

static uint64_t play(struct game *g)
{
  uint64_t steps = 0;

  g->n = 1 + (unsigned)bn_rng_below(&g->rng, SESSIONS_MAX);
  g->per_session = bn_rng_below(&g->rng, 3) == 0 ? 1 + bn_rng_below(&g->rng, 40) : 0;
  g->events = g->per_session != 0 ? g->per_session * g->n : 1 + bn_rng_below(&g->rng, 300);
  g->warmup = bn_rng_below(&g->rng, 4) > 0;
  g->one_more = g->warmup && bn_rng_below(&g->rng, 3) == 0;
  g->by_start = g->warmup && !g->one_more && bn_rng_below(&g->rng, 2) == 0;
  g->measure_ns = bn_rng_below(&g->rng, 200);
  g->until_ns = bn_rng_below(&g->rng, 10) == 0 ? 500 : UINT64_MAX;
  assert_int_equal(bn_statset_init(&g->stats, g->n, g->n, NULL, 0), 0);
  start(g);
  for (unsigned i = 0; i < g->n; i++)
    g->session[i].depth =
        bn_rng_below(&g->rng, 2) == 0 ? 1 : 1 + (unsigned)bn_rng_below(&g->rng, DEPTH_MAX);
  for (; g->here > 0; steps++) {
    step(g);
    check(g);
  }
  bn_quota_done(&g->quota);
  bn_statset_done(&g->stats);
  return steps;
}

static struct game *new_game(void)
{
  struct game *g = aligned_alloc(64, (sizeof *g + 63) / 64 * 64);

  assert_non_null(g);
  memset(g, 0, sizeof *g);
  g->until_ns = UINT64_MAX;
  bn_rng_seed(&g->rng, 11, BN_RNG_WORKLOAD, 0);
  return g;
}

static void no_interleaving_loses_a_ticket(void **state)
{
  struct game *g = new_game();
  uint64_t steps = 0, games = 0, spent = 0;

  (void)state;
  for (; steps < STEPS; games++) {
    steps += play(g);
    spent += g->spent && g->phase == COUNTING;
  }
  assert_in_range(games, 300, 100000);
  assert_in_range(spent, games / 5, games); /* the exact total was looked at */
  free(g);
}

/* --- by hand --- */

static struct game *new_game_of(unsigned n, uint64_t events, bool warmup, bool one_more)
{
  struct game *g = new_game();

  g->n = n;
  g->events = events;
  g->warmup = warmup;
  g->one_more = one_more;
  assert_int_equal(bn_statset_init(&g->stats, n, n, NULL, 0), 0);
  start(g);
  return g;
}

static void end_game(struct game *g)
{
  bn_quota_done(&g->quota);
  bn_statset_done(&g->stats);
  free(g);
}

static void run_out(struct game *g)
{
  for (unsigned i = 0; i < g->n; i++)
    while (!g->session[i].left)
      if (g->session[i].in_flight > 0)
        end(g, &g->session[i]);
      else if (claim(g, &g->session[i]) == BN_QUOTA_YES)
        begin(g, &g->session[i]);
}

/* Each of 4 sessions is in an event when the warm-up ends, and one has just claimed a second. */
static uint64_t finished_after_warmup(uint64_t events, bool one_more)
{
  struct game *g = new_game_of(4, events, true, one_more);
  uint64_t n;

  for (unsigned i = 0; i < 4; i++) {
    assert_int_equal(claim(g, &g->session[i]), BN_QUOTA_YES);
    begin(g, &g->session[i]);
  }
  assert_int_equal(claim(g, &g->session[3]), BN_QUOTA_YES);
  assert_int_equal(bn_quota_unused(&g->quota), UINT64_MAX);
  go_on(g);
  begin(g, &g->session[3]);
  assert_int_equal(claim(g, &g->session[0]), BN_QUOTA_FROZEN);
  go_on(g);
  go_on(g);
  run_out(g);
  check(g);
  n = finished(g);
  end_game(g);
  return n;
}

static void what_the_warmup_leaves_is_counted_once(void **state)
{
  (void)state;
  assert_int_equal(finished_after_warmup(100, false), 100);
  assert_int_equal(finished_after_warmup(6, false), 6);
  assert_int_equal(finished_after_warmup(5, false), 5);
  assert_int_equal(finished_after_warmup(2, false), 5); /* all five had begun */
  assert_int_equal(finished_after_warmup(100, true), 104);
  assert_int_equal(finished_after_warmup(2, true), 6);
}

static void counted_events_are_those_since_the_baseline(void **state)
{
  struct game *g = new_game_of(1, 0, true, false);
  struct session *s = &g->session[0];
  uint64_t n = 99;

  (void)state;
  for (int i = 0; i < 7; i++) {
    assert_int_equal(claim(g, s), BN_QUOTA_YES);
    begin(g, s);
    end(g, s);
  }
  assert_int_equal(bn_quota_get_counted(s->share, &n), BN_QUOTA_YES);
  assert_int_equal(n, 0);
  go_on(g);
  assert_int_equal(bn_quota_get_counted(s->share, &n), BN_QUOTA_FROZEN);
  go_on(g);
  begin(g, s);
  end(g, s);
  go_on(g);
  assert_int_equal(bn_quota_get_counted(s->share, &n), BN_QUOTA_YES);
  assert_int_equal(n, 1);
  end_game(g);
}

/* Batches while events are short; what a session holds when it leaves is for the others. */
static void a_hand_is_given_back(void **state)
{
  struct game *g = new_game_of(2, 10000, false, false);
  struct session *s = &g->session[0];

  (void)state;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(claim(g, s), BN_QUOTA_YES);
    begin(g, s);
    end(g, s);
  }
  assert_int_equal(bn_quota_unused(&g->quota), 10000 - 1 - 256);
  assert_int_equal(s->share->reserved, 255);
  leave(g, s, false);
  assert_int_equal(bn_quota_unused(&g->quota), 10000 - 2);
  run_out(g);
  assert_int_equal(g->session[1].ended, 10000 - 2);
  end_game(g);
}

/* Each session takes batches of its own tickets, and those that it leaves are for nobody. */
static void no_session_does_the_events_of_another(void **state)
{
  struct game *g = new_game();
  struct session *s = &g->session[0];

  (void)state;
  g->n = 3;
  g->per_session = 1000;
  g->events = 3000;
  assert_int_equal(bn_statset_init(&g->stats, g->n, g->n, NULL, 0), 0);
  start(g);
  g->quota.returns = true;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(claim(g, s), BN_QUOTA_YES);
    begin(g, s);
    end(g, s);
  }
  /* An eighth of the 999 that it had left. */
  assert_int_equal(s->share->reserved, 123);
  assert_int_equal(s->share->untaken, 875);
  assert_int_equal(bn_quota_unused(&g->quota), 3000 - 1 - 124);
  assert_int_equal(bn_quota_leave(s->share, true), BN_QUOTA_YES);
  assert_int_equal(bn_quota_unused(&g->quota), 2000);
  assert_int_equal(bn_quota_leave(g->session[2].share, false), BN_QUOTA_YES);
  assert_int_equal(bn_quota_unused(&g->quota), 2000);
  s->left = g->session[2].left = true;
  run_out(g);
  assert_int_equal(g->session[1].ended, 1000);
  assert_int_equal(bn_quota_unused(&g->quota), 1000);
  end_game(g);
}

/* The first session is in 3 events when the warm-up ends, and its limit is 2. */
static void what_the_warmup_leaves_counts_for_its_session(void **state)
{
  struct game *g = new_game();
  struct session *s = &g->session[0];

  (void)state;
  g->n = 2;
  g->per_session = 2;
  g->events = 4;
  g->warmup = true;
  assert_int_equal(bn_statset_init(&g->stats, g->n, g->n, NULL, 0), 0);
  start(g);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(claim(g, s), BN_QUOTA_YES);
    begin(g, s);
  }
  for (int i = 0; i < 3; i++)
    go_on(g);
  assert_int_equal(bn_quota_unused(&g->quota), 2);
  assert_int_equal(bn_quota_claim(s->share, 1), BN_QUOTA_SPENT);
  assert_int_equal(s->share->untaken, -1);
  run_out(g);
  assert_int_equal(s->ended, 3);
  assert_int_equal(g->session[1].ended, 2);
  assert_int_equal(bn_quota_unused(&g->quota), 0);
  end_game(g);
}

struct idler {
  struct bn_quota_share *share;
  bool again;
};

static void *linger(void *arg)
{
  struct idler *i = arg;

  i->again = bn_quota_await_ticket(i->share);
  return NULL;
}

/* What an idle session sees of what the first session does meanwhile, which has the only ticket. */
static bool linger_while(struct game *g, void (*act)(struct game *g))
{
  struct idler i = {.share = g->session[1].share};
  pthread_t thread;

  assert_int_equal(bn_quota_claim(g->session[0].share, 1), BN_QUOTA_YES);
  assert_int_equal(bn_quota_claim(i.share, 1), BN_QUOTA_SPENT);
  assert_int_equal(pthread_create(&thread, NULL, linger, &i), 0);
  act(g);
  assert_int_equal(pthread_join(thread, NULL), 0);
  return i.again;
}

static void give_back(struct game *g)
{
  bn_quota_unclaim(g->session[0].share, false);
  assert_int_equal(bn_quota_leave(g->session[0].share, false), BN_QUOTA_YES);
}

static void spend(struct game *g)
{
  assert_int_equal(bn_quota_leave(g->session[0].share, false), BN_QUOTA_YES);
}

static void be_idle(struct game *g)
{
  assert_false(bn_quota_await_ticket(g->session[0].share));
}

static void close_it(struct game *g)
{
  bn_quota_close(&g->quota, 2);
}

/* Whichever of the two is first. */
static void idle_sessions_get_what_is_given_back(void **state)
{
  static const struct {
    void (*act)(struct game *g);
    bool again;
    enum bn_admission answer;
  } row[] = {{give_back, true, BN_QUOTA_YES},
             {spend, false, BN_QUOTA_SPENT},
             {be_idle, false, BN_QUOTA_SPENT},
             {close_it, true, BN_QUOTA_CLOSED}};

  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    struct game *g = new_game_of(2, 1, false, false);

    g->quota.returns = true;
    bn_quota_open(&g->quota, UINT64_MAX, 0);
    assert_int_equal(linger_while(g, row[i].act), row[i].again);
    assert_int_equal(bn_quota_claim(g->session[1].share, 1), row[i].answer);
    end_game(g);
  }
}

static void nobody_lingers_without_need(void **state)
{
  struct game *g = new_game_of(2, 1, false, false);

  (void)state;
  assert_int_equal(bn_quota_claim(g->session[0].share, 1), BN_QUOTA_YES);
  assert_false(bn_quota_await_ticket(g->session[1].share));
  end_game(g);
}

static void closing_wins(void **state)
{
  struct game *g = new_game_of(1, 5, false, false);

  (void)state;
  assert_int_equal(bn_quota_claim(g->session[0].share, 1), BN_QUOTA_YES);
  bn_quota_close(&g->quota, 500);
  bn_quota_open(&g->quota, 1000, 0);
  assert_int_equal(bn_quota_claim(g->session[0].share, 1), BN_QUOTA_CLOSED);
  assert_int_equal(bn_quota_claim(&g->quota.share[1], 1), BN_QUOTA_CLOSED);
  end_game(g);
}

BN_TESTS(quota)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_interleaving_loses_a_ticket),
      cmocka_unit_test(what_the_warmup_leaves_is_counted_once),
      cmocka_unit_test(counted_events_are_those_since_the_baseline),
      cmocka_unit_test(a_hand_is_given_back),
      cmocka_unit_test(no_session_does_the_events_of_another),
      cmocka_unit_test(what_the_warmup_leaves_counts_for_its_session),
      cmocka_unit_test(idle_sessions_get_what_is_given_back),
      cmocka_unit_test(nobody_lingers_without_need),
      cmocka_unit_test(closing_wins),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
