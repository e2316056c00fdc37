/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The turns of --reconnect-rate are at equal distances over all sessions, each is taken once before
   the next event, and those that events outlast are missed. */
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "engine/renewal.h"
#include "option/conf.h"

enum { SESSIONS = 4 };

struct scene {
  struct bn_conf conf;
  struct bn_services services;
  struct bn_session session[SESSIONS];
};

static const uint64_t start_ns = 1000000000;

/* The sessions are the last ones of `all`. */
static void set_scene(struct scene *c, double rate, unsigned n, unsigned all)
{
  memset(c, 0, sizeof *c);
  c->conf.raw.reconnect_rate = rate;
  c->services = (struct bn_services){.conf = &c->conf, .sessions = all};
  for (unsigned i = 0; i < n; i++) {
    c->session[i].number = all - n + i;
    c->session[i].services = &c->services;
    c->session[i].start_ns = start_ns;
    bn_renewal_start(&c->session[i]);
  }
}

/* Begins an event at that time after the start.  Returns whether it follows a turn. */
static bool begin(struct bn_session *s, double at_s)
{
  s->last_ns = start_ns + (uint64_t)(at_s * 1e9 + 0.5);
  return bn_renewal_take(s);
}

/* Turn j of 10 a second is due at (j + 1/2)/10 s, in session j % 4. */
static void turns_have_equal_distances(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, 10, 4, 4);
  for (unsigned j = 0; j < 4000; j++)
    assert_true(llabs((long long)bn_renewal_due_ns(&c.session[j % 4], j / 4) -
                      (long long)(start_ns + j * UINT64_C(100000000) + 50000000)) <= 1);
}

/* Two hosts have the turns of one: the second one has sessions 2 and 3. */
static void hosts_have_their_sessions_turns(void **state)
{
  struct scene one, second;

  (void)state;
  set_scene(&one, 7, 4, 4);
  set_scene(&second, 7, 2, 4);
  for (unsigned i = 0; i < 100; i++)
    for (unsigned k = 0; k < 2; k++)
      assert_int_equal(bn_renewal_due_ns(&second.session[k], i),
                       bn_renewal_due_ns(&one.session[2 + k], i));
}

/* Events of 7 ms for 100 s, in 4 sessions with 20 turns a second: 2,000 turns. */
static void each_turn_is_taken_once(void **state)
{
  struct scene c;
  unsigned taken = 0;

  (void)state;
  set_scene(&c, 20, 4, 4);
  for (unsigned k = 0; k < 4; k++)
    for (double at_s = 0; at_s < 100; at_s += 0.007)
      if (begin(&c.session[k], at_s)) {
        taken++;
        assert_false(begin(&c.session[k], at_s));
      }
  assert_int_equal(taken, 2000);
  for (unsigned k = 0; k < 4; k++)
    assert_int_equal(c.session[k].renewal.missed, 0);
}

/* Events of 1 s, and a turn each 0.25 s, from 0.125 s on: the events at 1, 2, ... 9 s take a turn
   each, and miss three. */
static void turns_are_missed_by_long_events(void **state)
{
  struct scene c;
  unsigned taken = 0;

  (void)state;
  set_scene(&c, 4, 1, 1);
  assert_false(begin(&c.session[0], 0));
  for (unsigned at_s = 1; at_s < 10; at_s++)
    taken += begin(&c.session[0], at_s);
  assert_int_equal(taken, 9);
  assert_int_equal(c.session[0].renewal.missed, 27);
  assert_int_equal(c.session[0].renewal.passed, 36);
}

static void an_event_that_is_repeated_takes_no_turn(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, 4, 1, 1);
  c.session[0].repeats = 1;
  assert_false(begin(&c.session[0], 0.2));
  c.session[0].repeats = 0;
  assert_true(begin(&c.session[0], 0.2));
}

/* A turn in the next century never comes. */
static void rare_turns_have_no_overflow(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, 1e-12, 1, 1);
  assert_int_equal(c.session[0].renewal.next_ns, UINT64_MAX);
  assert_false(begin(&c.session[0], 1e9));
}

static void without_the_option_there_are_none(void **state)
{
  struct scene c;

  (void)state;
  set_scene(&c, 0, 1, 1);
  assert_false(bn_renewal_allow(&c.session[0]));
  set_scene(&c, 1, 1, 1);
  assert_true(bn_renewal_allow(&c.session[0]));
}

BN_TESTS(renewal)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(turns_have_equal_distances),
      cmocka_unit_test(hosts_have_their_sessions_turns),
      cmocka_unit_test(each_turn_is_taken_once),
      cmocka_unit_test(turns_are_missed_by_long_events),
      cmocka_unit_test(an_event_that_is_repeated_takes_no_turn),
      cmocka_unit_test(rare_turns_have_no_overflow),
      cmocka_unit_test(without_the_option_there_are_none),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
