/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows that modules and data are found from the program, wherever it was moved to or linked from,
   and that what is no driver is refused with a reason. */
#include "cm.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/driver.h"
#include "api/ioengine.h"
#include "base/plugin.h"

static const struct bn_plugin_kind drivers = BN_DRIVER_KIND, engines = BN_ENGINE_KIND;

static char prefix[64];

/* What the copy of this program in the moved prefix does for one word. */
static int probe(const char *what, const char *name)
{
  struct bn_err err = {0};
  char dir[512], *names[4];
  const struct bn_ioengine *engine;
  const struct bn_driver *driver;

  if (strcmp(what, "data") == 0)
    return puts(bn_plugin_data_dir(dir, sizeof dir, &err)) < 0;
  if (strcmp(what, "lib") == 0)
    return puts(bn_plugin_lib_dir(dir, sizeof dir, &err)) < 0;
  if (strcmp(what, "names") == 0) {
    const size_t n = bn_plugin_list(&drivers, names, 4);

    for (size_t i = 0; i < n; i++) {
      printf("%s;", names[i]);
      free(names[i]);
    }
    return puts("") < 0;
  }
  if (strcmp(what, "engine") == 0) {
    engine = bn_plugin_open(&engines, name, &err);
    printf("%s %d %s\n", engine != NULL ? engine->name : "none", err.code, err.text);
    return 0;
  }
  driver = bn_plugin_open(&drivers, name, &err);
  printf("%s %d %s\n", driver != NULL ? driver->name : "none", err.code, err.text);
  return 0;
}

static const char *ask(const char *program, const char *what, const char *name)
{
  static char answer[1024];
  char command[256];
  FILE *in;

  (void)snprintf(command, sizeof command, "%s/%s --probe %s %s", prefix, program, what, name);
  in = popen(command, "r");
  assert_non_null(in);
  if (fgets(answer, sizeof answer, in) == NULL)
    answer[0] = '\0';
  assert_int_equal(pclose(in), 0);
  answer[strcspn(answer, "\n")] = '\0';
  return answer;
}

static void shell(const char *format)
{
  char command[512];
  const char *at = strstr(format, "@");

  assert_non_null(at);
  (void)snprintf(command, sizeof command, "cd %s && %s", prefix, at + 1);
  assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
  char self[512], command[1024];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

  (void)state;
  assert_true(n > 0);
  self[n] = '\0';
  (void)snprintf(prefix, sizeof prefix, "/tmp/bn-test-plugin-XXXXXX");
  assert_non_null(mkdtemp(prefix));
  (void)snprintf(command, sizeof command, "cp %s %s/program", self, prefix);
  assert_int_equal(system(command), 0);
  shell("@mkdir -p bin lib/bench/drivers lib/bench/engines share/bench elsewhere && mv program "
        "bin/bench && "
        "ln -s ../bin/bench elsewhere/sysbench");
  shell("@echo text >lib/bench/drivers/broken.so && echo x >lib/bench/drivers/notes.txt && "
        "cp $(ldd bin/bench | sed -n 's/.*=> *\\(.*libc.so[^ ]*\\).*/\\1/p') "
        "lib/bench/drivers/alien.so && cp lib/bench/drivers/*.so lib/bench/engines");
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  shell("@rm -rf bin lib share elsewhere");
  return rmdir(prefix);
}

static void test_folders(void **state)
{
  char wanted[128];

  (void)state;
  (void)snprintf(wanted, sizeof wanted, "%s/share/bench", prefix);
  assert_string_equal(ask("bin/bench", "data", ""), wanted);
  assert_string_equal(ask("elsewhere/sysbench", "data", ""), wanted);
  (void)snprintf(wanted, sizeof wanted, "%s/lib/bench", prefix);
  assert_string_equal(ask("bin/bench", "lib", ""), wanted);
  assert_string_equal(ask("elsewhere/sysbench", "lib", ""), wanted);
}

static void test_names(void **state)
{
  (void)state;
  assert_string_equal(ask("bin/bench", "names", ""), "alien;broken;");
  /* A name with a blank or a point cannot be opened, and '-' sorts behind the end of a name. */
  shell("@cd lib/bench/drivers && touch alien-2.so 'a b.so' a.b.so .so");
  assert_string_equal(ask("bin/bench", "names", ""), "alien;alien-2;broken;");
  shell("@cd lib/bench/drivers && rm alien-2.so 'a b.so' a.b.so .so");
}

static void test_refusals(void **state)
{
  (void)state;
  assert_non_null(strstr(ask("bin/bench", "load", "absent"), "none 2 there is no driver module '"));
  assert_non_null(strstr(ask("bin/bench", "load", "../drivers/broken"),
                         "none 2 '../drivers/broken' is not the name"));
  assert_non_null(
      strstr(ask("bin/bench", "load", "broken"), "none 0 cannot load driver 'broken': "));
  assert_non_null(strstr(ask("bin/bench", "load", "alien"), "'alien' is not a driver module"));
}

static void test_engine_refusals(void **state)
{
  (void)state;
  assert_non_null(
      strstr(ask("bin/bench", "engine", "absent"), "none 2 there is no engine module '"));
  assert_non_null(strstr(ask("bin/bench", "engine", "../engines/broken"),
                         "none 2 '../engines/broken' is not the name of an engine"));
  assert_non_null(
      strstr(ask("bin/bench", "engine", "broken"), "none 0 cannot load engine 'broken': "));
  assert_non_null(strstr(ask("bin/bench", "engine", "alien"), "'alien' is not an engine module"));
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_folders),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_engine_refusals),
  };

  if (argc > 2 && strcmp(argv[1], "--probe") == 0)
    return probe(argv[2], argc > 3 ? argv[3] : "");
  return cmocka_run_group_tests(tests, setup, teardown);
}
