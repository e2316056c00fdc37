/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows which arguments are a subcommand's, what it is given, and how its mistakes are named. */
#include "cm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/subcommand.h"

struct conf {
  char *format;
  int64_t count;
};

static char seen[256];

static int show(const void *conf, const char *const *operand, struct bn_err *err)
{
  const struct conf *c = conf;
  size_t n = 0;

  while (operand[n] != NULL)
    n++;
  (void)snprintf(seen, sizeof seen, "%s %d %zu %s %s", c->format, (int)c->count, n, operand[0],
                 operand[n - 1]);
  if (strcmp(operand[0], "missing") != 0)
    return 3;
  (void)bn_err_set(err, 0, "cannot open 'missing'");
  return 1;
}

static const struct bn_opt options[] = {{.name = "format",
                                         .type = BN_STRING,
                                         .def = "text",
                                         .offset = offsetof(struct conf, format),
                                         .help = "form to print"},
                                        {.name = "first-count",
                                         .type = BN_INT,
                                         .def = "7",
                                         .offset = offsetof(struct conf, count),
                                         .min = 1,
                                         .max = 9,
                                         .letter = 'c',
                                         .help = "how many"},
                                        BN_OPT_END};

static int tell_run(const void *conf, const char *const *operand, struct bn_err *err)
{
  const struct conf *c = conf;
  size_t len = (size_t)snprintf(seen, sizeof seen, "%s", c->format);

  (void)err;
  for (; *operand != NULL && len < sizeof seen; operand++)
    len += (size_t)snprintf(seen + len, sizeof seen - len, " %s", *operand);
  return 0;
}

static const struct bn_subcommand table[] = {{.name = "study",
                                              .title = "run several",
                                              .operands = "TEST",
                                              .min_operands = 1,
                                              .max_operands = SIZE_MAX,
                                              .takes_run = true,
                                              .options = options,
                                              .conf_size = sizeof(struct conf),
                                              .run = tell_run},
                                             {.name = "show",
                                              .title = "print a file",
                                              .operands = "FILE [FILE]",
                                              .min_operands = 1,
                                              .max_operands = 2,
                                              .options = options,
                                              .conf_size = sizeof(struct conf),
                                              .run = show},
                                             {.name = NULL}};

/* Words parted by one blank; they stay valid until the next call. */
static int split(const char *line, char **argv)
{
  static char text[256];
  char *rest = text;
  int argc = 0;

  (void)snprintf(text, sizeof text, "bench %s", line);
  while (rest != NULL)
    argv[argc++] = strsep(&rest, " ");
  return argc;
}

static const struct bn_subcommand *find(const char *line)
{
  char *argv[16];
  const int argc = split(line, argv);

  return bn_subcommand_find_asked(table, argc, argv);
}

static void test_find(void **state)
{
  (void)state;
  assert_ptr_equal(find("show a"), &table[1]);
  assert_ptr_equal(find("--format=x show"), &table[1]);
  assert_ptr_equal(find("study cpu run"), &table[0]);
  assert_null(find("show.lua a"));
  assert_null(find("./show a"));
  assert_null(find("cpu show"));
  assert_null(find("--format x show"));
  assert_null(find("--help"));
  assert_null(find("help"));
  assert_null(find("help cpu"));
  assert_ptr_equal(find("help show"), &table[1]);
  assert_ptr_equal(bn_subcommand_find_named(table, "study"), &table[0]);
  assert_null(bn_subcommand_find_named(table, "lat"));
}

static int run(const char *line, char *out, size_t size, struct bn_err *err)
{
  char *argv[16];
  const struct bn_subcommand_args args = {.argc = split(line, argv), .argv = argv};
  FILE *file = fmemopen(out, size, "w");
  int status;

  seen[0] = '\0';
  *err = (struct bn_err){0};
  assert_non_null(file);
  status = bn_subcommand_run(&table[strncmp(line, "study", 5) != 0], &args, file, err);
  assert_int_equal(fclose(file), 0);
  return status;
}

static void test_run(void **state)
{
  static const struct {
    const char *line, *seen, *err;
    int status;
  } cases[] = {
      {"show a", "text 7 1 a a", "", 3},
      {"--format=csv show a --first_count=9 b", "csv 9 2 a b", "", 3},
      {"show -", "text 7 1 - -", "", 3},
      {"show -c 8 a -c9 b", "text 9 2 a b", "", 3},
      {"show a -c -1", "", "--first-count=-1: out of range; allowed: 1 to 9", 1},
      {"show a -c", "", "-c needs a value (see bench show --help)", 1},
      {"show missing", "text 7 1 missing missing", "cannot open 'missing'", 1},
      {"show", "", "too few arguments; usage: bench show [options]... FILE [FILE]", 1},
      {"show a b c", "",
       "too many arguments, from 'c' on; usage: bench show [options]... FILE [FILE]", 1},
      {"show a b mysql://u:pw@h", "",
       "too many arguments, from 'mysql://u:***' on; usage: bench show [options]... FILE [FILE]",
       1},
      {"show --mysql-password pw a b", "", "--mysql-password: no such option", 1},
      {"show a --formt=x", "", "--formt=***: no such option; did you mean --format?", 1},
      {"show a --threads=4", "", "--threads=***: no such option", 1},
      {"show a -f", "", "unknown argument '-f' (see bench show --help)", 1},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char out[1024] = "";
    struct bn_err err;

    assert_int_equal(run(cases[i].line, out, sizeof out, &err), cases[i].status);
    assert_string_equal(seen, cases[i].seen);
    assert_string_equal(err.text, cases[i].err);
    assert_string_equal(out, "");
  }
}

static void test_bad_value(void **state)
{
  char out[1024] = "";
  struct bn_err err;

  (void)state;
  assert_int_equal(run("show a --first-count=10", out, sizeof out, &err), 1);
  assert_string_equal(err.text, "--first-count=10: out of range; allowed: 1 to 9");
  assert_string_equal(seen, "");
}

static void test_help(void **state)
{
  char out[1024] = "";
  struct bn_err err;

  (void)state;
  assert_int_equal(run("show --help", out, sizeof out, &err), 0);
  assert_string_equal(out, "Usage:\n  bench show [options]... FILE [FILE]\n\n"
                           "show - print a file\n\n"
                           "show options:\n"
                           "  --format=STRING       form to print [text]\n"
                           "  --first-count=N, -c N how many [7]\n"
                           "  --help[=on|off]       this list of options [off]\n\n");
  assert_string_equal(seen, "");
}

/* What a subcommand that takes a run leaves to it. */
static void test_command_of_a_run(void **state)
{
  static const struct {
    const char *line, *want;
  } cases[] = {
      {"study cpu run", "text cpu run"},
      {"study --format=x cpu --threads=2 run", "x cpu --threads=2 run"},
      {"study --threads=2 cpu --format x run", "x --threads=2 cpu run"},
      {"study cpu --help", "text cpu --help"},
      {"study -q cpu -v run", "text -q cpu -v run"},
      {"study -- cpu --format=x -- run", "text cpu --format=x -- run"},
  };
  char out[1024];
  struct bn_err err;

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(run(cases[i].line, out, sizeof out, &err), 0);
    assert_string_equal(seen, cases[i].want);
  }
  assert_int_equal(run("study --help", out, sizeof out, &err), 0);
  assert_non_null(strstr(out, "  bench study [options]... TEST\n"));
  assert_int_equal(run("study -c 0 cpu", out, sizeof out, &err), 1);
  assert_int_equal(run("study", out, sizeof out, &err), 1);
}

static void test_secrets_do_not_stay_in_the_arguments(void **state)
{
  char *argv[16];
  const int argc =
      split("study --mysql-password=abcdef --a='--pgsql-password=def' --threads=2", argv);

  (void)state;
  bn_subcommand_scrub(argc, argv);
  assert_string_equal(argv[2], "--mysql-password=xxxx  ");
  assert_string_equal(argv[3], "--a=xxxx                  ");
  assert_string_equal(argv[4], "--threads=2");
}

static void test_lists(void **state)
{
  char out[2048] = "";
  FILE *file = fmemopen(out, sizeof out, "w");

  (void)state;
  assert_non_null(file);
  bn_subcommand_print_list(table, file);
  assert_int_equal(bn_subcommand_print_man(table, file), 0);
  assert_int_equal(fclose(file), 0);
  assert_non_null(strstr(out, "Subcommands:\n  study - run several\n  show - print a file\n\n"));
  assert_non_null(strstr(out, ".Ss bench show\n.Bl "));
  assert_non_null(strstr(out, ".It Fl Fl first-count Ns = Ns Ar N , Fl c Ar N\n"));
}

/* The fault of a study is reported once, and by no other words. */
static void test_study_that_does_not_load(void **state)
{
  static const struct bn_subcommand missing[] = {{.name = "missing"}, {.name = NULL}};
  static const char want[] = "bench missing: module 'study.missing' not found:";
  const int saved = dup(STDERR_FILENO);
  FILE *said = tmpfile(), *out = tmpfile();
  char text[2048];
  size_t len;

  (void)state;
  assert_true(saved >= 0 && said != NULL && out != NULL);
  assert_true(dup2(fileno(said), STDERR_FILENO) >= 0);
  assert_int_equal(bn_subcommand_print_man(missing, out), -1);
  assert_true(dup2(saved, STDERR_FILENO) >= 0 && close(saved) == 0);
  rewind(said);
  len = fread(text, 1, sizeof text - 1, said);
  text[len] = '\0';
  assert_memory_equal(text, want, strlen(want));
  assert_null(strstr(text + 1, "bench missing:"));
  assert_int_equal(ftell(out), 0);
  assert_int_equal(fclose(said), 0);
  assert_int_equal(fclose(out), 0);
}

BN_TESTS(subcommand)
{
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_find),
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_bad_value),
      cmocka_unit_test(test_help),
      cmocka_unit_test(test_lists),
      cmocka_unit_test(test_study_that_does_not_load),
      cmocka_unit_test(test_command_of_a_run),
      cmocka_unit_test(test_secrets_do_not_stay_in_the_arguments),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
