/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates that change in time: the curve of each form, its integral, and where bad text is wrong. */
#include "cm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "option/profile.h"

static struct bn_profile profile;
static char wrong[BN_PROFILE_WRONG];

static void read_profile(const char *text)
{
  wrong[0] = '\0';
  if (bn_profile_parse(text, BN_PROFILE_RATE, 0, &profile, wrong) != 0)
    fail_msg("%s: %s", text, wrong);
}

static double mass_at(double s)
{
  return bn_rate_curve_mass(profile.piece, profile.n_pieces, s);
}

static double time_of(double mass)
{
  return bn_rate_curve_time(profile.piece, profile.n_pieces, mass);
}

static void assert_near(double value, double expected, double part)
{
  if (!(fabs(value - expected) <= part * fabs(expected) + 1e-9))
    fail_msg("%.17g is not within %g of %.17g", value, part, expected);
}

/* A row is a profile, how long it is, its events, and the events of a second from at_s on. */
static void forms_have_their_areas(void **state)
{
  static const struct {
    const char *text;
    double span_s, mass, at_s, then;
  } row[] = {
      {"ramp:0..5000/60s", 60, 150000, 30, 2500 + 5000.0 / 120},
      {"ramp:500..0/10s", 10, 2500, 9, 25},
      {"hold:5000/5m", 300, 1500000, 299, 5000},
      {"hold:0.5/1h", 3600, 1800, 7, 0.5},
      {"hold:3/500ms", 0.5, 1.5, 10, 3},
      {"step:1000..5000+1000/30s", 150, 450000, 31, 2000},
      {"step:1000..5500+1000/30s", 150, 450000, 149, 5000},
      {"step:0.3..0.1-0.1/10", 30, 6, 25, 0.1},
      {"step:7..7+1/1s", 1, 7, 0, 7},
      {"sine:4000+-1000/30s", 30, 120000, 30, 4000},
      {"sine:4000+-1000/30s for 45s", 45, 180000 + 1000 * 30 / M_PI, 45, 4000},
      {"hold:100/10s; burst:2000/2s every 30s", 40, 1000 + 4000 + 2800, 11, 2000},
      {"hold:100/10s;burst:2000/2s every 30s for 31s", 41, 1000 + 4000 + 2800 + 2000, 40, 2000},
      {"burst:9/1s every 2s for 4s", 4, 18, 1, 0},
      {" hold:1/1s ; ramp:1..3/2 ", 3, 5, 5, 3},
  };

  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    read_profile(row[i].text);
    assert_near(profile.span_s, row[i].span_s, 1e-12);
    assert_near(mass_at(profile.span_s), row[i].mass, 2e-4);
    assert_near(mass_at(row[i].at_s + 1) - mass_at(row[i].at_s), row[i].then, 1e-3);
    bn_profile_done(&profile);
  }
}

/* The area of each second of a wave is that of the sine within 0.025 % of the mean. */
static void waves_have_the_area_of_the_sine(void **state)
{
  (void)state;
  read_profile("sine:1000+-1000/30s for 100s");
  for (int i = 0; i < 100; i++) {
    const double w = 2 * M_PI / 30, exact = 1000 + 1000 / w * (cos(w * i) - cos(w * (i + 1)));

    assert_true(fabs(mass_at(i + 1) - mass_at(i) - exact) < 0.25);
  }
  bn_profile_done(&profile);
}

/* The time of a mass is the inverse of the mass at a time, across all pieces of all forms. */
static void time_is_the_inverse_of_mass(void **state)
{
  (void)state;
  read_profile("hold:0/5s; ramp:0..100/10s; hold:0/2s; sine:50+-50/7s for 20s; hold:30/10s; "
               "burst:500/1s every 3s for 9s; ramp:30..0/10s; hold:10/1s");
  for (double mass = 0.01; mass < mass_at(profile.span_s + 5); mass += 0.37)
    assert_near(mass_at(time_of(mass)), mass, 1e-9);
  assert_true(time_of(1e-6) > 5 && time_of(500) <= 15 && time_of(500.001) > 17);
  bn_profile_done(&profile);
  read_profile("hold:10/1s; hold:0/1s");
  assert_true(isinf(time_of(10.5)) && time_of(10) == 1 && mass_at(1e6) == 10);
  bn_profile_done(&profile);
}

/* The rate of the lead is the first one, and the phases come behind it. */
static void a_lead_has_the_first_rate(void **state)
{
  (void)state;
  assert_int_equal(
      bn_profile_parse("ramp:10..30/10s; hold:5/1s", BN_PROFILE_RATE, 4, &profile, wrong), 0);
  assert_near(mass_at(4), 40, 1e-12);
  assert_near(mass_at(14), 240, 1e-12);
  assert_true(profile.span_s == 11);
  bn_profile_done(&profile);
}

static void refuses(const char *text, const char *expected)
{
  assert_int_equal(bn_profile_parse(text, BN_PROFILE_RATE, 0, &profile, wrong), -1);
  assert_string_equal(wrong, expected);
  assert_int_equal(profile.n_pieces, 0);
}

static void bad_text_is_named_with_its_place(void **state)
{
  static const char any[] = "ramp:, hold:, step:, sine:, burst:, trace:";
  char expected[BN_PROFILE_WRONG];

  (void)state;
  (void)snprintf(expected, sizeof expected, "phase 1, '', column 1: not a phase; allowed: %s", any);
  refuses("", expected);
  (void)snprintf(expected, sizeof expected, "phase 2, '', column 12: not a phase; allowed: %s",
                 any);
  refuses("hold:1/1s; ;", expected);
  (void)snprintf(expected, sizeof expected,
                 "phase 1, 'jump:1/1s', column 1: not a phase; allowed: %s", any);
  refuses("jump:1/1s", expected);
  refuses("hold:x/1s", "phase 1, 'hold:x/1s', column 6: not a rate; allowed: hold:RATE/TIME");
  refuses("hold:1/1s; hold:3000000000/1s",
          "phase 2, 'hold:3000000000/1s', column 17: the rate is greater than 2147483647; allowed: "
          "hold:RATE/TIME");
  refuses("hold:1", "phase 1, 'hold:1', column 7: '/' is missing; allowed: hold:RATE/TIME");
  refuses("hold:1/x", "phase 1, 'hold:1/x', column 8: not a time, such as 500ms, 30s, 5m or 1h; "
                      "allowed: hold:RATE/TIME");
  refuses("hold:1/0s", "phase 1, 'hold:1/0s', column 8: the time is 0; allowed: hold:RATE/TIME");
  refuses("hold:1/5x", "phase 1, 'hold:1/5x', column 9: the phase should end here; allowed: "
                       "hold:RATE/TIME");
  refuses("ramp:1-5/5s",
          "phase 1, 'ramp:1-5/5s', column 7: '..' is missing; allowed: ramp:RATE..RATE/TIME");
  refuses("step:1..5-1/5s", "phase 1, 'step:1..5-1/5s', column 10: '+' is missing; allowed: "
                            "step:RATE..RATE+RATE/TIME");
  refuses("step:1..5+0/5s", "phase 1, 'step:1..5+0/5s', column 11: the step is 0; allowed: "
                            "step:RATE..RATE+RATE/TIME");
  refuses("sine:4+-5/5s", "phase 1, 'sine:4+-5/5s', column 9: the rate would fall below 0; "
                          "allowed: sine:RATE+-RATE/TIME [for TIME]");
  refuses("burst:4/5s for 3s", "phase 1, 'burst:4/5s for 3s', column 12: 'every' is missing; "
                               "allowed: burst:RATE/TIME every TIME [for TIME]");
  refuses("burst:4/5s every 5s", "phase 1, 'burst:4/5s every 5s', column 18: not longer than the "
                                 "burst; allowed: burst:RATE/TIME every TIME [for TIME]");
  refuses("hold:1/1h; sine:1+-1/1ms for 3h",
          "phase 2, 'sine:1+-1/1ms for 3h', column 32: the profile has more than 1000000 changes; "
          "allowed: sine:RATE+-RATE/TIME [for TIME]");
  refuses("hold:1/600000h", "phase 1, 'hold:1/600000h', column 15: the profile is longer than "
                            "2147483647 seconds; allowed: hold:RATE/TIME");
}

/* --- traces --- */

static char path[64], spec[96];

static void write_trace(const char *text)
{
  FILE *f;

  (void)snprintf(path, sizeof path, "trace-%d.csv", (int)getpid());
  (void)snprintf(spec, sizeof spec, "trace:%s ", path);
  f = fopen(path, "w");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
}

/* Rows hold until the next one, and the last one as long as that before it. */
static void traces_hold_between_their_rows(void **state)
{
  (void)state;
  write_trace("second, rate\n# of a morning\n100,10\n110  20\r\n\n112 , 0 # night\n115.5,8");
  read_profile(spec);
  assert_near(profile.span_s, 19, 1e-12);
  assert_near(mass_at(10), 100, 1e-12);
  assert_near(mass_at(12), 140, 1e-12);
  assert_near(mass_at(15.5), 140, 1e-12);
  assert_near(mass_at(19), 168, 1e-12);
  assert_true(profile.has_trace);
  bn_profile_done(&profile);
  (void)remove(path);
}

static void bad_traces_are_named_with_line_and_column(void **state)
{
  static const struct {
    const char *text, *fault;
  } row[] = {
      {"", "a trace needs two rows; the file has 0"},
      {"0,1\n", "a trace needs two rows; the file has 1"},
      {"0,1\nx,2\n", "line 2 of the file, column 1: not a second"},
      {"0,1\n1,x\n", "line 2 of the file, column 3: not a rate"},
      {"0,1\n1\n", "line 2 of the file, column 3: not a rate"},
      {"0,1\n\n 0 2\n", "line 3 of the file, column 2: the second is not after that of the row "
                        "before"},
      {"0,1,2\n", "line 1 of the file, column 4: more than two columns"},
      {"0,3000000000\n", "line 1 of the file, column 13: the rate is too great"},
  };
  char expected[BN_PROFILE_WRONG];

  (void)state;
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    write_trace(row[i].text);
    (void)snprintf(expected, sizeof expected,
                   "phase 1, 'trace:%s', column 7: %s; allowed: trace:FILE", path, row[i].fault);
    refuses(spec, expected);
  }
  (void)remove(path);
  refuses("trace:/none/at-all", "phase 1, 'trace:/none/at-all', column 7: cannot open the file: No "
                                "such file or directory; allowed: trace:FILE");
  assert_true(profile.has_trace);
  refuses("trace: ;", "phase 1, 'trace:', column 7: the name of the file is missing; allowed: "
                      "trace:FILE");
}

/* The phases are those between semicolons, whose times follow each other. */
static void phases_keep_their_text(void **state)
{
  static const struct {
    const char *text;
    double from_s, span_s, burst_s, period_s;
  } phase[] = {{.text = "ramp:0..10/5s", .from_s = 0, .span_s = 5},
               {.text = "burst:10/1s every 4s for 10s",
                .from_s = 5,
                .span_s = 10,
                .burst_s = 1,
                .period_s = 4},
               {.text = "step:1..3+1/2s", .from_s = 15, .span_s = 6}};
  char fault[BN_PROFILE_WRONG];
  struct bn_buf many = {.max = 0};
  struct bn_profile p;

  (void)state;
  assert_int_equal(bn_profile_parse(" ramp:0..10/5s ;burst:10/1s every 4s for 10s; step:1..3+1/2s ",
                                    BN_PROFILE_RATE, 2, &p, fault),
                   0);
  assert_int_equal(p.n_phases, 3);
  for (size_t i = 0; i < 3; i++) {
    assert_string_equal(p.phase[i].text, phase[i].text);
    assert_true(p.phase[i].from_s == phase[i].from_s && p.phase[i].span_s == phase[i].span_s);
    assert_true(p.phase[i].burst_s == phase[i].burst_s && p.phase[i].period_s == phase[i].period_s);
  }
  assert_true(p.lead_s == 2 && p.span_s == 21);
  bn_profile_done(&p);
  for (int i = 0; i < 33; i++)
    (void)bn_buf_str(&many, i == 0 ? "hold:1/1" : ";hold:1/1");
  refuses(many.data,
          "phase 33, 'hold:1/1', column 289: the profile has more than 32 phases; allowed: "
          "ramp:, hold:, step:, sine:, burst:, trace:");
  bn_buf_done(&many);
}

BN_TESTS(profile)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forms_have_their_areas),
      cmocka_unit_test(waves_have_the_area_of_the_sine),
      cmocka_unit_test(time_is_the_inverse_of_mass),
      cmocka_unit_test(a_lead_has_the_first_rate),
      cmocka_unit_test(phases_keep_their_text),
      cmocka_unit_test(bad_text_is_named_with_its_place),
      cmocka_unit_test(traces_hold_between_their_rows),
      cmocka_unit_test(bad_traces_are_named_with_line_and_column),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
