/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows which words of a command line hosts get, and which files. */
#include "cm.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dialect/dialect.h"
#include "hosts/arguments.h"
#include "hosts/frame.h"
#include "option/conf.h"
#include "option/words.h"

static char folder[] = "/tmp/bench-order-XXXXXX";

static void write_text(const char *name, const char *text)
{
  FILE *f = fopen(name, "w");

  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
}

static int enter_folder(void **state)
{
  (void)state;
  if (mkdtemp(folder) == NULL || chdir(folder) != 0)
    return -1;
  write_text("my.lua", "require 'mod'\n");
  write_text("mod.lua", "return 1\n");
  write_text("notes.txt", "not sent\n");
  write_text("my.conf", "time=3\n");
  write_text("secret", "p w\nsecond line\n");
  return 0;
}

static int leave_folder(void **state)
{
  static const char *const names[] = {"my.lua", "mod.lua", "notes.txt", "my.conf", "secret"};

  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    (void)unlink(names[i]);
  return chdir("/") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

/* What a host gets: its command line in one text, and "NAME:LENGTH" of each file. */
struct made {
  char argv[1024], files[1024];
};

/* Stores the words with blanks between them. */
static void join(char *out, size_t size, const struct bn_list *words)
{
  out[0] = '\0';
  for (size_t i = 0; i < words->n; i++)
    (void)snprintf(out + strlen(out), size - strlen(out), "%s%s", i > 0 ? " " : "", words->item[i]);
}

static int by_name(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the files of the frames in the order of their names, because a folder has no order. */
static void list_files(char *out, size_t size, const struct bn_buf *frames)
{
  struct bn_list list = {.n = 0};
  struct bn_err err = {0};
  struct bn_frame_reader r;
  struct bn_frame f;
  struct bn_frame_file file;
  char line[BN_FRAME_NAME_MAX + 32];

  bn_frame_reader_init(&r, BN_FRAME_FROM_CONTROLLER);
  assert_int_equal(bn_frame_feed(&r, frames->data != NULL ? frames->data : "", frames->len, &err),
                   0);
  while (bn_frame_next(&r, &f, &err) > 0) {
    assert_int_equal(bn_frame_get_file(&f, &file, &err), 0);
    (void)snprintf(line, sizeof line, "%s:%zu", file.name, file.len);
    bn_words_add(&list, line);
  }
  if (list.n > 0)
    qsort(list.item, list.n, sizeof *list.item, by_name);
  join(out, size, &list);
  bn_words_done(&list);
  bn_frame_reader_done(&r);
}

/* The time between two reports of a host, for the command lines that are made next; 0: none. */
static uint64_t interval_ns;
static bool per_session;

static int make(struct made *out, const struct bn_policy *policy, const char *test, bool builtin,
                const char *const *args, struct bn_err *err)
{
  const struct bn_work_split share = {
      .threads = 8, .first_session = 16, .events = 50, .per_session = per_session, .rate = 12.5};
  struct bn_conf conf = {.policy = policy};
  struct bn_optset *options = bn_optset_new(policy);
  const struct bn_arguments_input from = {.args = (char *const *)(uintptr_t)args,
                                          .test = test,
                                          .command = "run",
                                          .is_bundled = builtin,
                                          .options = options,
                                          .seed = 77,
                                          .interval_ns = interval_ns};
  struct bn_list argv = {.n = 0};
  struct bn_arguments arguments;
  int rc;

  assert_int_equal(bn_conf_add_options(&conf, options, err), 0);
  rc = bn_arguments_make(&arguments, &from, err);
  if (rc == 0) {
    bn_arguments_make_argv(&arguments, &share, &argv);
    join(out->argv, sizeof out->argv, &argv);
    list_files(out->files, sizeof out->files, &arguments.files);
    bn_words_done(&argv);
    bn_arguments_done(&arguments);
  }
  bn_optset_free(options);
  return rc;
}

#define ARGS(...) ((const char *const[]){"bench", __VA_ARGS__, NULL})

static void shares_replace_what_was_typed(void **state)
{
  struct bn_err err = {0};
  struct made m;

  (void)state;
  assert_int_equal(make(&m, &bn_policy_bench, "cpu", true,
                        ARGS("cpu", "--hosts=a,b", "--threads=4", "--rand_seed=1", "--events=100",
                             "--rate=25", "--cpu-max-prime=7", "--report=csv:x", "--debug", "run"),
                        &err),
                   0);
  assert_string_equal(m.argv, "cpu --cpu-max-prime=7 --debug --rand-seed=77 --threads=8 "
                              "--events=50 --rate=12.5 run");
  /* Assertions of a run that reports no intervals need some. */
  interval_ns = 500000000;
  assert_int_equal(make(&m, &bn_policy_bench, "cpu", true, ARGS("cpu", "run"), &err), 0);
  interval_ns = 0;
  assert_string_equal(m.argv, "cpu --report-interval=0.5 --rand-seed=77 --threads=8 --events=50 "
                              "--rate=12.5 run");
  assert_string_equal(m.files, "");
}

/* The limit of each thread is sent as it was typed, without another one. */
static void events_of_each_thread_are_not_divided(void **state)
{
  struct bn_err err = {0};
  struct made m;

  (void)state;
  per_session = true;
  assert_int_equal(
      make(&m, &bn_policy_bench, "cpu", true, ARGS("cpu", "--events-per-session=7", "run"), &err),
      0);
  per_session = false;
  assert_string_equal(m.argv, "cpu --events-per-session=7 --rand-seed=77 --threads=8 --events=0 "
                              "--rate=12.5 run");
}

static void a_script_comes_with_its_folder(void **state)
{
  struct bn_err err = {0};
  struct made m;

  (void)state;
  assert_int_equal(make(&m, &bn_policy_bench, "./my.lua", false, ARGS("./my.lua", "run"), &err), 0);
  assert_string_equal(m.argv, "my.lua --rand-seed=77 --threads=8 --events=50 --rate=12.5 run");
  assert_string_equal(m.files, "mod.lua:9 my.lua:14");
  assert_int_equal(make(&m, &bn_policy_bench, "my", false, ARGS("my", "run"), &err), 0);
  assert_string_equal(m.argv, "my.lua --rand-seed=77 --threads=8 --events=50 --rate=12.5 run");
  /* Every host has the bundled ones. */
  assert_int_equal(
      make(&m, &bn_policy_bench, "oltp_read_only", false, ARGS("oltp_read_only", "run"), &err), 0);
  assert_string_equal(m.files, "");
}

static void settings_are_sent_as_a_file_and_passwords_as_values(void **state)
{
  struct bn_err err = {0};
  struct made m;

  (void)state;
  assert_int_equal(make(&m, bn_policy_find("1.0"), "cpu", true,
                        ARGS("cpu", "--config-file=my.conf", "--mysql-password-file=secret",
                             "--pgsql-password=x y", "run"),
                        &err),
                   0);
  assert_string_equal(m.argv, "cpu --config-file=config/0-my.conf --mysql-password=p w "
                              "--pgsql-password=x y --compat=1.0 --rand-seed=77 --threads=8 "
                              "--events=50 --rate=12.5 run");
  assert_string_equal(m.files, "config/0-my.conf:7");
}

/* No host takes the value of all of them from the file, which is sent, under an old name either. */
static void a_file_does_not_set_what_each_host_has_its_own_value_of(void **state)
{
  static const char *const lines[][2] = {{"num-threads", "9"}, {"rand-init", "on"}, {"time", "3"}};
  struct bn_conf conf = {.policy = bn_policy_find("0.5")};
  struct bn_err err = {0};
  struct bn_optset *options = bn_conf_new_options(&conf, &err);
  const char *const args[] = {"bench", "--test=cpu", "--max-requests=7", "run", NULL};
  const struct bn_arguments_input from = {.args = (char *const *)(uintptr_t)args,
                                          .test = "cpu",
                                          .command = "run",
                                          .is_bundled = true,
                                          .options = options};
  struct bn_arguments arguments;
  char words[512];

  (void)state;
  assert_non_null(options);
  for (size_t i = 0; i < 3; i++)
    bn_optset_set_from_file(options, lines[i][0], lines[i][1], "a.cfg", 1);
  assert_int_equal(bn_optset_set(options, "max-requests", "7", "--max-requests=7"), 0);
  assert_int_equal(bn_arguments_make(&arguments, &from, &err), 0);
  join(words, sizeof words, &arguments.words);
  assert_string_equal(words,
                      "cpu --max-requests=10000 --num-threads=1 --rand-init=off --compat=0.5");
  bn_arguments_done(&arguments);
  bn_optset_free(options);
}

/* The time that a profile outside of the groups sets, for the next command lines; 0: none. */
static uint64_t profile_ns;

/* Makes the command line of a group with these options, for hosts or here, with "--group" and
   "--x.size" among the arguments. */
static int make_group(struct made *out, bool is_here, const char *own, struct bn_err *err)
{
  const struct bn_work_split share = {.threads = 2, .events = 5, .rate = 1.5};
  struct bn_conf conf = {.policy = &bn_policy_bench};
  struct bn_optset *options = bn_conf_new_options(&conf, err);
  const char *const args[] = {"bench",
                              "--group=x: ./my.lua",
                              "--x.size=3",
                              "--threads=4",
                              "--tx-rate=9",
                              "--size=7",
                              "--hosts=a,b",
                              "--rand-seed=1",
                              "--mysql-password-file=secret",
                              "run",
                              NULL};
  struct bn_group_words group = {.name = (char[]){"x"}};
  const struct bn_group_list groups = {&group, 1};
  const struct bn_arguments_input from = {.args = (char *const *)(uintptr_t)args,
                                          .command = "run",
                                          .groups = &groups,
                                          .group = &group,
                                          .is_here = is_here,
                                          .options = options,
                                          .seed = 77,
                                          .profile_ns = profile_ns};
  struct bn_list argv = {.n = 0};
  struct bn_arguments arguments;
  int rc;

  assert_non_null(options);
  bn_words_add(&group.script, "./my.lua");
  assert_int_equal(bn_words_split(own, &group.options, err), 0);
  rc = bn_arguments_make(&arguments, &from, err);
  if (rc == 0) {
    bn_arguments_make_argv(&arguments, &share, &argv);
    join(out->argv, sizeof out->argv, &argv);
    list_files(out->files, sizeof out->files, &arguments.files);
    bn_words_done(&argv);
    bn_arguments_done(&arguments);
  }
  bn_words_done(&group.script);
  bn_words_done(&group.options);
  bn_optset_free(options);
  return rc;
}

/* Hosts get the script, the passwords and their shares, and a process here reads for itself and
   gets only its threads (--threads-total).  No limit of time is added that the user has not set,
   because the default would look like one. */
static void a_group_is_sent_to_hosts(void **state)
{
  struct bn_err err = {0};
  struct made m;

  (void)state;
  assert_int_equal(make_group(&m, false, "--rate=3 --num-threads=2 --size=3 --rand-seed=8", &err),
                   0);
  assert_string_equal(m.argv, "my.lua --size=7 --mysql-password=p w --rand-seed=77 --size=3 "
                              "--threads=2 --events=5 --rate=1.5 run");
  assert_string_equal(m.files, "mod.lua:9 my.lua:14");
  profile_ns = 3000000000;
  assert_int_equal(make_group(&m, true, "--rate=3 --size=3", &err), 0);
  profile_ns = 0;
  assert_string_equal(m.argv, "./my.lua --threads=4 --rate=9 --size=7 --rand-seed=1 "
                              "--mysql-password-file=secret --rand-seed=77 --time=3 --rate=3 "
                              "--size=3 --threads=2 run");
  assert_string_equal(m.files, "");
}

/* Returns whether the memory of malloc(3), freed blocks too, has the text.  The text is given with
   each byte one higher, so that the search does not find itself. */
static bool heap_has(const char *shifted)
{
  const size_t len = strlen(shifted);
  FILE *maps = fopen("/proc/self/maps", "r");
  bool is_found = false;
  char line[256];

  assert_non_null(maps);
  while (!is_found && fgets(line, sizeof line, maps) != NULL) {
    char *rest;
    const char *at = (const char *)(uintptr_t)strtoull(line, &rest, 16);
    const char *end = (const char *)(uintptr_t)strtoull(rest + 1, NULL, 16);

    for (; !is_found && strstr(line, "[heap]") != NULL && at + len <= end; at++) {
      size_t k = 0;

      while (k < len && at[k] == shifted[k] - 1)
        k++;
      is_found = k == len;
    }
  }
  (void)fclose(maps);
  return is_found;
}

/* Writes a file that begins with `before` letters and has the text, shifted as for heap_has(),
   behind them. */
static void write_shifted(const char *name, size_t before, const char *shifted, size_t size)
{
  char *text = calloc(1, size + 1);
  const int fd = open(name, O_WRONLY | O_TRUNC);

  assert_non_null(text);
  memset(text, 'o', size);
  for (size_t i = 0; shifted[i] != '\0'; i++)
    text[before + i] = (char)(shifted[i] - 1);
  assert_int_equal(write(fd, text, size), size);
  (void)close(fd);
  explicit_bzero(text, size);
  free(text);
}

/* The buffer for the file must not move while it is read.  It would here if it grew, because the
   holes in the heap have room for its beginning only. */
static void no_copy_of_a_password_is_left(void **state)
{
  static const char shifted[] = "ijeefo.qbttxpse"; /* "hidden-password" */
  enum { BEFORE = 10000, SIZE = 70000, BLOCKS = 16, BLOCK = 32768 };
  char *block[BLOCKS];
  struct bn_err err = {0};
  struct made m;

  (void)state;
  write_shifted("secret", BEFORE, shifted, SIZE);
  for (size_t i = 0; i < BLOCKS; i++)
    block[i] = malloc(BLOCK);
  for (size_t i = 0; i < BLOCKS; i += 2)
    free(block[i]);
  assert_int_equal(
      make(&m, &bn_policy_bench, "cpu", true, ARGS("cpu", "--config-file=secret", "run"), &err), 0);
  assert_string_equal(m.files, "config/0-secret:70000");
  assert_false(heap_has(shifted));
  for (size_t i = 1; i < BLOCKS; i += 2)
    free(block[i]);
}

static void what_cannot_be_sent_is_refused(void **state)
{
  struct bn_err err = {0};
  struct made m;

  (void)state;
  assert_int_equal(
      make(&m, &bn_policy_bench, "cpu", true, ARGS("cpu", "--mysql-password-prompt", "run"), &err),
      -1);
  assert_string_equal(err.text,
                      "--mysql-password-prompt cannot be used in a run on several hosts; use "
                      "--mysql-password-file");
  assert_int_equal(make(&m, &bn_policy_bench, "cpu", true,
                        ARGS("cpu", "--pgsql-password-file=none", "run"), &err),
                   -1);
  assert_string_equal(err.text,
                      "cannot read 'none', which the hosts need: No such file or directory");
  write_text("secret", "");
  assert_int_equal(truncate("secret", 65537), 0);
  assert_int_equal(make(&m, &bn_policy_bench, "cpu", true,
                        ARGS("cpu", "--pgsql-password-file=secret", "run"), &err),
                   -1);
  assert_string_equal(err.text,
                      "--pgsql-password-file=secret: the file has more than 64 KiB; is it "
                      "that of a password?");
}

BN_TESTS(arguments)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_replace_what_was_typed),
      cmocka_unit_test(events_of_each_thread_are_not_divided),
      cmocka_unit_test(a_script_comes_with_its_folder),
      cmocka_unit_test(settings_are_sent_as_a_file_and_passwords_as_values),
      cmocka_unit_test(a_file_does_not_set_what_each_host_has_its_own_value_of),
      cmocka_unit_test(a_group_is_sent_to_hosts),
      cmocka_unit_test(no_copy_of_a_password_is_left),
      cmocka_unit_test(what_cannot_be_sent_is_refused)};

  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
