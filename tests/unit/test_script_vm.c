/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interpreters work with any table of modules and functions; each has globals of its own, all share
   what was compiled; files are found where scripts in the wild name them. */
#include "cm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/session.h"
#include "base/buf.h"
#include "dialect/dialect.h"
#include "option/conf.h"
#include "script/vm/call.h"
#include "script/vm/chunk.h"
#include "script/vm/env.h"
#include "script/vm/module_path.h"
#include "script/vm/vm.h"

static char dir[] = "/tmp/bench-script-vm-XXXXXX";

static int seven(lua_State *L)
{
  lua_pushinteger(L, 7);
  return 1;
}

static const char completes[] = "local internal = ...\n"
                                "return function (env, sysbench, is_main, debugging, old_names)\n"
                                "  sysbench.seven, sysbench.is_main = internal.seven(), is_main\n"
                                "  sysbench.pid = internal.ffi.C.getpid()\n"
                                "  return function () end\n"
                                "end\n";

static const struct bn_vm_module modules[] = {
    {"sysbench", (const unsigned char *)completes, sizeof completes - 1}, {NULL, NULL, 0}};
static const struct bn_vm_part parts[] = {
    {"now", "int getpid(void);"}, {"later", "int getppid(void);"}, {NULL, NULL}};
static const char *const old_parts[] = {"later", NULL};
static const luaL_Reg functions[] = {{"seven", seven}, {NULL, NULL}};
static const struct bn_vm_table table = {
    .modules = modules, .parts = parts, .old_parts = old_parts, .functions = functions};

static const char script[] = "x = 100\n"
                             "function add(n) x = x + n; return x end\n"
                             "function parent() return ffi.C.getppid() end\n"
                             "function refuse() error('refused') end\n"
                             "function complain() error('port 1: host a:2: refused', 0) end\n"
                             "function load_bad() loadstring('error(\"x: y\")')() end\n";

/* Writes a file of that name in the folder of the test.  Returns its path, until the next call. */
static const char *write_file(const char *name, const char *text)
{
  static char path[256];

  (void)snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "we");

  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
  return path;
}

static void make_folder(const char *name)
{
  char path[256];

  (void)snprintf(path, sizeof path, "%s/%s", dir, name);
  assert_int_equal(mkdir(path, 0700), 0);
}

/* Calls a global of the script that takes and returns one number. */
static double call_number(struct bn_lua *lua, const char *name, double argument)
{
  bn_lua_push_global(lua, name);
  lua_pushnumber(lua->L, argument);
  assert_int_equal(bn_lua_call(lua, 1, 1, name), 0);
  const double result = lua_tonumber(lua->L, -1);

  lua_pop(lua->L, 1);
  return result;
}

/* Returns sysbench[name] of the script as a number. */
static double get_field(struct bn_lua *lua, const char *name)
{
  bn_lua_push_field(lua, name);
  const double value =
      lua_isboolean(lua->L, -1) ? lua_toboolean(lua->L, -1) : lua_tonumber(lua->L, -1);

  lua_pop(lua->L, 1);
  return value;
}

/* Counts the files of a script, which are all in the folder of the test. */
static void count_files(void *arg, const char *file)
{
  assert_non_null(strstr(file, dir));
  ++*(unsigned *)arg;
}

static void test_interpreters(void **state)
{
  const struct bn_conf conf = {.policy = &bn_policy_bench};
  char file[256];
  struct bn_script_setup setup = {.name = file, .conf = &conf};
  struct bn_session session = {.id = 1};
  struct bn_vm vm = {0};
  struct bn_lua a = {0}, b = {0};
  struct bn_err err = {0};
  unsigned files = 0;

  (void)state;
  (void)snprintf(file, sizeof file, "%s", write_file("s.lua", script));
  bn_vm_init(&vm, &setup, &table);
  assert_int_equal(bn_vm_find(&vm, &err), 0);
  assert_string_equal(vm.place.file, file);
  assert_int_equal(vm.place.set, BN_SET_USER);
  assert_int_equal(bn_lua_open(&a, &vm, &session, false), 0);
  assert_int_equal(bn_vm_compile(&vm, &a, &err), 0);
  /* From here on the file is not needed. */
  assert_int_equal(unlink(file), 0);
  assert_int_equal(bn_lua_open(&b, &vm, &session, true), 0);
  assert_int_equal(bn_lua_load(&a), 0);
  assert_int_equal(bn_lua_load(&b), 0);
  assert_null(bn_lua_current());

  /* Globals are an instance's own, what the table gives is in both. */
  assert_true(call_number(&a, "add", 5) == 105);
  assert_true(call_number(&a, "add", 5) == 110);
  assert_true(call_number(&b, "add", 5) == 105);
  assert_true(get_field(&a, "seven") == 7 && get_field(&b, "seven") == 7);
  assert_true(get_field(&a, "is_main") == 1 && get_field(&b, "is_main") == 0);
  assert_true(get_field(&a, "pid") == getpid());
  assert_true(call_number(&b, "parent", 0) == getppid());

  /* A failure leaves the stack as it was. */
  const int top = lua_gettop(a.L);

  bn_lua_push_global(&a, "refuse");
  assert_int_equal(bn_lua_call(&a, 0, 3, "refuse"), -1);
  assert_int_equal(lua_gettop(a.L), top);
  assert_null(bn_lua_current());
  assert_int_equal(bn_lua_call_global(&a, "absent"), 0);
  assert_int_equal(bn_lua_call_global(&a, "refuse"), -1);
  /* The kind of a failure is its place in the script, or else its whole text. */
  assert_non_null(strstr(a.failure.kind, "s.lua:4"));
  assert_null(strstr(a.failure.kind, "refused"));
  assert_int_equal(bn_lua_call_global(&a, "complain"), -1);
  assert_string_equal(a.failure.kind, "port 1: host a:2: refused");
  assert_int_equal(bn_lua_call_global(&a, "load_bad"), -1);
  assert_string_equal(a.failure.kind, "[string \"error(\"x: y\")\"]:1");
  assert_true(bn_lua_has_function(&a, "add") && !bn_lua_has_function(&a, "x"));

  bn_chunks_note(vm.chunks, dir);
  bn_chunks_each(vm.chunks, count_files, &files);
  assert_int_equal(files, 2);
  bn_lua_close(&a);
  bn_lua_close(&b);
  bn_vm_done(&vm);
}

static void test_path(void **state)
{
  char path[600], wanted[800];
  struct bn_buf tried;

  (void)state;
  make_folder("a");
  (void)write_file("a/b.lua", "return 1\n");
  (void)snprintf(path, sizeof path, "%s/none/?.so;;%s/?.lua", dir, dir);
  bn_buf_init(&tried, 0);
  char *found = bn_module_path_search(path, "a.b", &tried);

  (void)snprintf(wanted, sizeof wanted, "%s/a/b.lua", dir);
  assert_string_equal(found, wanted);
  free(found);
  (void)snprintf(wanted, sizeof wanted, "\n\tno file '%s/none/a/b.so'", dir);
  assert_string_equal(tried.data, wanted);
  bn_buf_done(&tried);
  /* A folder is no module. */
  assert_null(bn_module_path_search(dir, "x", NULL));

  assert_int_equal(setenv("LUA_PATH", "/first/?;;/last/?", 1), 0);
  char *list = bn_module_path_default("/data");

  assert_ptr_equal(strstr(list, "/first/?;./?.lua;"), list);
  assert_non_null(strstr(list, ";/data/?.lua;/last/?"));
  free(list);
  assert_int_equal(unsetenv("LUA_PATH"), 0);
}

/* Every name under which packages of sysbench had a workload, and what it means in a version. */
static void test_find_instead(void **state)
{
  struct bn_conf conf = {.policy = &bn_policy_bench};
  const struct bn_script_setup setup = {.conf = &conf, .data_dir = dir};
  static const struct {
    const char *name;
    const struct bn_policy *policy;
    const char *file; /* in the data folder; NULL: none of ours */
  } rows[] = {
      {"/gone/sysbench/tests/db/oltp.lua", &bn_policy_bench, "tests/include/oltp_legacy/oltp.lua"},
      {"/gone/oltp_legacy/oltp", &bn_policy_bench, "tests/include/oltp_legacy/oltp.lua"},
      {"/gone/share/sysbench/oltp.lua", &bn_policy_bench, "oltp.lua"},
      {"/gone/share/sysbench/oltp.lua", &bn_policy_05, "tests/include/oltp_legacy/oltp.lua"},
      {"/gone/share/sysbench/new", &bn_policy_05, "new.lua"},
      {"/gone/sysbench-1.0.20/src/lua/new.lua", &bn_policy_10, "new.lua"},
      {"src/lua/new.lua", &bn_policy_bench, "new.lua"},
      {"/gone/lua/new.lua", &bn_policy_bench, NULL},
      {"/gone/db/oltp.lua", &bn_policy_bench, NULL},
      {"/gone/sysbench/absent.lua", &bn_policy_bench, NULL},
      {"/proc/self/exe", &bn_policy_bench, NULL}};

  (void)state;
  make_folder("tests");
  make_folder("tests/include");
  make_folder("tests/include/oltp_legacy");
  (void)write_file("tests/include/oltp_legacy/oltp.lua", "");
  (void)write_file("oltp.lua", "");
  (void)write_file("new.lua", "");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char wanted[512];

    conf.policy = rows[i].policy;
    char *file = bn_script_file_find_substitute(&setup, rows[i].name, true);

    if (rows[i].file == NULL) {
      assert_null(file);
      continue;
    }
    (void)snprintf(wanted, sizeof wanted, "%s/%s", dir, rows[i].file);
    assert_string_equal(file, wanted);
    free(file);
  }
}

static void test_not_found(void **state)
{
  const struct bn_conf conf = {.policy = &bn_policy_bench};
  const struct bn_script_setup setup = {.name = "no-such-test", .conf = &conf};
  struct bn_script_place place = {0};
  struct bn_err err = {0};

  (void)state;
  assert_int_equal(bn_script_file_find(&place, &setup, "/none/?.lua", &err), -1);
  assert_int_equal(err.code, ENOENT);
  assert_null(place.file);
  bn_script_file_done(&place);
}

BN_TESTS(script_vm)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_interpreters), cmocka_unit_test(test_path),
      cmocka_unit_test(test_find_instead), cmocka_unit_test(test_not_found)};
  char remove[64];

  if (mkdtemp(dir) == NULL)
    return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  (void)snprintf(remove, sizeof remove, "rm -r %s", dir);
  return system(remove) == 0 ? failed : 1;
}
