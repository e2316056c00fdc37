#!/bin/sh
# Feeds every lint bad samples and fails where one stays silent, or complains about a good one.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
licence='/* SPDX-License-Identifier: GPL-2.0-or-later */'

# Makes a tree of one good file to which a test adds its bad one.
fresh()
{
  rm -rf "$work/tree"
  for folder in base sql dialect measure engine report drivers/x script/vm script/api; do
    mkdir -p "$work/tree/src/$folder"
  done
  {
    printf '%s\n/* A good file. */\n#include "base/good.h"\n\n' "$licence"
    printf 'int bn_good(int a)\n{\n  return a;\n}\n'
  } >"$work/tree/src/base/good.c"
  {
    printf '%s\n/* A good header. */\n#ifndef BASE_GOOD_H\n#define BASE_GOOD_H\n\n' "$licence"
    printf 'int bn_good(int a);\n\n#endif\n'
  } >"$work/tree/src/base/good.h"
  echo 'libbase_a_SOURCES = src/base/good.c src/base/good.h' >"$work/tree/Makefile.am"
}

put() # file, lines...: writes one below its head
{
  target=$work/tree/$1
  shift
  { printf '%s\n/* A sample. */\n' "$licence"; printf '%s\n' "$@"; } >"$target"
}

verdict() # what was expected, what came (0 or more), lint, sample
{
  if [ "$1" = bad ] && [ "$2" -eq 0 ]; then
    echo "$3: did not notice: $4"
    status=1
  elif [ "$1" = good ] && [ "$2" -ne 0 ]; then
    echo "$3: complained about: $4"
    status=1
  fi
}

expect() # good or bad, lint, sample
{
  "$here/$2.sh" "$work/tree" >/dev/null 2>&1
  verdict "$1" $? "$2" "$3"
}

# --- source lints
for lint in layers length banned waits words headers format shell listed libraries packages \
  clang analyze luacheck luaglobals dialects optionlists figurelists; do
  fresh
  expect good $lint 'a good tree'
done

bad_source() # lint, sample, file, lines...
{
  lint=$1 sample=$2
  shift 2
  fresh
  put "$@"
  expect bad "$lint" "$sample"
}

bad_source layers 'base includes measure' src/base/a.c '#include "measure/stat.h"'
bad_source layers 'report includes the engine' src/report/b.c '#include "engine/run.h"'
bad_source layers 'measure includes options' src/measure/b.c '#include "option/opt.h"'
bad_source layers 'report includes tests' src/report/a.c '#include "tests/cpu.h"'
bad_source layers 'the SQL layer includes the engine' src/sql/a.c '#include "engine/run.h"'
bad_source layers 'a driver includes base' src/drivers/x/a.c '#include "base/buf.h"'
bad_source layers 'engine includes Lua' src/engine/a.c '#include <lua.h>'
bad_source layers "scripts' machine includes what they call" src/script/vm/a.c \
  '#include "script/api/options.h"'
bad_source layers "scripts' machine includes the SQL layer" src/script/vm/a.c '#include "sql/sql.h"'
bad_source layers 'what scripts call includes old names' src/script/api/a.c \
  '#include "script/old/compat.h"'
bad_source layers 'what scripts call includes the root of its layer' src/script/api/a.c \
  '#include "script/script.h"'
bad_source layers 'dialect includes option' src/dialect/a.c '#include "option/opt.h"'
bad_source layers 'engine includes dialect' src/engine/a.c '#include "dialect/dialect.h"'
bad_source length 'a long line' src/base/a.c "/* $(printf '%0120d' 0) */"
bad_source length 'a long file' src/base/a.c "$(yes 'int bn_x;' | head -n 801)"
bad_source analyze 'a null pointer followed' src/base/a.c 'int f(int a);' 'int f(int a)' '{' \
  '  int *p = &a;' '  if (a > 1)' '    p = 0;' '  return *p;' '}'
bad_source clang 'a field left out' src/base/a.c 'struct a { int b, c; };' \
  'static const struct a f = {1};' 'int g(void);' 'int g(void) { return f.b; }'
bad_source dialects 'ten questions for the version' src/engine/a.c \
  "$(yes 'int a(int v) { return v == BN_V05; }' | head -n 10)"
bad_source listed 'a file the Makefile does not name' src/base/god.c 'extern int bn_x;'
bad_source listed 'a script that the package lacks' src/base/god.sh 'exit 1'

in_body() # lint, sample, lines of the body of a function
{
  lint=$1 sample=$2
  shift 2
  bad_source "$lint" "$sample" src/base/a.c 'void f(char *s)' '{' "$@" '}'
}

in_body length 'a long function' "$(yes '  f(s);' | head -n 60)"
in_body banned 'atoi' '  f(atoi("1"));'
in_body banned 'sprintf' '  sprintf(s, "1");'
in_body banned 'a condition in a body' '#if X' '  f(s);' '#endif'
in_body banned 'exit outside main' '  exit(1);'
in_body banned 'printf outside report' '  printf("x");'
in_body banned 'stderr outside report' '  fputs("x", stderr);'
for call in 'pthread_cond_wait(c, m)' 'pthread_cond_timedwait(c, m, t)' 'pthread_cond_signal(c)' \
  'pthread_create(t, a, f, x)' 'pthread_join(t, 0)' 'nanosleep(t, 0)' 'usleep(5)' 'sem_wait(s)' \
  'clock_nanosleep(1, 1, t, 0)' 'sigtimedwait(s, i, t)' 'poll(p, 1, -1)' 'pthread_kill(t, 1)' \
  'pause()'; do
  bad_source waits "$call" src/engine/a.c 'void f(void)' '{' "  (void)$call;" '}'
done
fresh
put src/engine/a.c '/* pthread_join(t, 0) */' 'void f(void)' '{' '  bn_wait_join(w, t);' '}'
expect good waits 'a wait that says what it waits for'
fresh
put src/base/wait.c 'void f(void)' '{' '  pthread_join(t, 0);' '}'
expect good waits 'the file that blocks'
bad_source waits 'a wait without a test' src/engine/a.c \
  'static const struct bn_wait rain = {"the rain", BN_BOUND_STOP};'
bad_source words 'an unfinished word' src/base/a.c '/* FIX''ME */'
bad_source headers 'a header that needs another' src/base/a.h 'extern size_t bn_x;'
bad_source headers 'a header without a guard' src/base/a.h 'struct bn_x { int a; };'
bad_source format 'bad layout' src/base/a.c 'int   f( void ) {return 1;}'
fresh
echo 'int bn_x;' >"$work/tree/src/base/a.c"
expect bad banned 'no head'
fresh
# shellcheck disable=SC2016 # the sample is not to be expanded here
printf '#!/bin/sh\ncd $1\n[ $a == b ]\n' >"$work/tree/bad.sh"
expect bad shell 'an unquoted variable and a bashism'

fresh
mkdir -p "$work/tree/src/lua"
echo 'function event() count = 1 end' >"$work/tree/src/lua/a.lua"
expect bad luaglobals 'a global of its own in a script'
echo 'local count = 1; function event() return count end' >"$work/tree/src/lua/a.lua"
expect good luaglobals 'a script with event() and a local variable'
mkdir "$work/tree/src/lua/study"
echo 'local unused = 1' >"$work/tree/src/lua/study/a.lua"
expect bad luacheck 'a value that nothing uses'

option_list() # good or bad, sample, lines of a source
{
  expected=$1 sample=$2
  shift 2
  fresh
  put src/sql/a.c 'const struct bn_opt bn_x[] = {' '    {.name = "a-host",' \
    '     .type = BN_LIST},' '    {.name = "speed", .type = BN_INT},' \
    '    {.name = "a-port", .type = BN_INT},' '    BN_OPT_END};'
  put src/measure/a.c "$@"
  expect "$expected" optionlists "$sample"
}

option_list bad 'a list of options' \
  'static const char *const a[] = {"speed",' '  "a_host", "--a-port"};'
option_list bad 'prefixes and suffixes of options' \
  'const char *a[] = {"--a-", "-host", "-port"};'
option_list bad 'a table with options' \
  'struct x a[] = {{"speed", 1}, {"a-host", 2},' '  {"a-port", 3}};'
option_list good 'two options and another word' 'const char *a[] = {"speed", "a-host", "port"};'
option_list good 'a list with a reason' '/* Their order is shown (lint: option list). */' \
  'const char *a[] = {"speed", "a-host", "a-port"};'

figure_list() # good or bad, sample, lines of a source
{
  expected=$1 sample=$2
  shift 2
  fresh
  put src/measure/figures.def 'FIGURE(u64, outages, "1", LESS, SUM, SQL, PARTS, "times")' \
    'FIGURE(u64, due, "1", NEITHER, SUM, ALL, PARTS | PACED,' '       "events")' \
    'FIGURE(f64, lag_p50_s, "s", LESS, COMPUTED, ALL, PACED, "lag")'
  put src/engine/a.c "$@"
  expect "$expected" figurelists "$sample"
}

figure_list bad 'a list of figures' 'static const char *const a[] = {"outages",' \
  '  "lag_p50_s", "due"};'
figure_list bad 'prefixes and suffixes of figures' 'const char *a[] = {"lag_", "_p50_s", "due"};'
figure_list bad 'a table with figures' 'struct x a[] = {{"due", 1}, {"outages", 2},' \
  '  {"lag_p50_s", 3}};'
figure_list bad 'a table with members of a view' 'struct x a[] = {{"a", U64(due)},' \
  '  {"b", U64(outages)}, {"c", F64(bn_view, lag_p50_s)}};'
figure_list good 'two figures and another word' 'const char *a[] = {"due", "outages", "lag"};'
figure_list good 'a list with a reason' 'const char *a[] = { /* lint: figure list */' \
  '  "due", "outages", "lag_p50_s"};'

# subject, body
committed()
{
  git -C "$work/tree" -c user.name=x -c user.email=x commit -q --allow-empty -m "$1" ${2:+-m "$2"}
}

fresh
expect good commits 'a tree without history'
if command -v git >/dev/null; then
  git -C "$work/tree" init -q
  committed 'no area'
  base=$(git -C "$work/tree" rev-parse HEAD)
  expect bad commits 'a subject without area'
  "$here/commits.sh" "$work/tree" "$base" || verdict good 1 commits 'no commits after the base'
  committed 'lint: say what is wrong' "It was not said, which $(printf '%054d' 0)."
  expect_since() { "$here/commits.sh" "$work/tree" "$base" >/dev/null; verdict $1 $? commits "$2"; }
  expect_since bad 'a body of 77 columns'
  base=$(git -C "$work/tree" rev-parse HEAD)
  committed 'lint, tests: say what is wrong' 'It was not said, so nobody knew.'
  expect_since good 'a good message'
  committed 'lint: say what is wrong'
  expect_since bad 'a message without a body'
  base=$(git -C "$work/tree" rev-parse HEAD)
  committed "lint: $(printf '%055d' 0)" 'It was not said, so nobody knew.'
  expect_since bad 'a subject of 61 columns'
fi

# m4, third_party/README.md
libraries()
{
  fresh
  mkdir -p "$work/tree/m4" "$work/tree/third_party"
  echo "$1" >"$work/tree/m4/bn_sample.m4"
  echo "$2" >"$work/tree/third_party/README.md"
  # shellcheck disable=SC2016 # of make
  echo 'x_LIBADD = $(SAMPLE_LIBS)' >>"$work/tree/Makefile.am"
}

libraries '  BN_OPTIONAL([sample], [SAMPLE],' 'with `--with-sample=DIR`'
expect good libraries 'a library that is linked and documented'
libraries '  BN_OPTIONAL([sample], [SAMPLE],' ''
expect bad libraries 'a library that is not documented'
libraries '  BN_OPTIONAL([other], [OTHER],' 'with `--with-other=DIR`'
expect bad libraries 'a library that nothing is linked with'

# configure.ac, [build] of packages.debian, of packages.fedora
packages()
{
  fresh
  mkdir -p "$work/tree/build-aux"
  echo "$1" >"$work/tree/configure.ac"
  printf '[build]\n%s\n\n[check]\nlibcmocka-dev\nlibpq-dev\n' "$2" \
    >"$work/tree/build-aux/packages.debian"
  printf '[build]\n%s\n\n[check]\nlibcmocka-devel\n' "$3" >"$work/tree/build-aux/packages.fedora"
}

pgsql='  BN_OPTIONAL([pgsql], [PGSQL], [libpq], [libpq-fe.h], [pq], [f], [driver], [libpq-dev])'
packages "$pgsql" 'libother-dev|libpq-dev' libpq-devel
expect good packages 'a library whose packages are in both lists'
packages "$pgsql" '' libpq-devel
expect bad packages "a library whose package is only in Debian's [check]"
packages "$pgsql" libpq-dev libpq
expect bad packages "a library whose package is not in Fedora's list"
packages '  BN_OPTIONAL([pgsql], [PGSQL], [libpq], [libpq-fe.h], [pq], [f], [driver], [libpq])' \
  libpq-dev libpq-devel
expect bad packages 'a user who is told to install another package'
packages 'PKG_CHECK_MODULES([CMOCKA], [cmocka >= 1], [], []) # libcmocka-dev' '' ''
expect good packages 'a library that only tests use'
for macro in 'AC_ARG_WITH([sample]' 'BN_OPTIONAL([sample]' 'AC_CHECK_LIB([sample]' \
  'PKG_CHECK_MODULES([SAMPLE], [sample]'; do
  packages "  $macro, [])" '' ''
  expect bad packages "a library that the table does not know: $macro"
done

# Strings and comments do not count.
fresh
put src/base/a.c '/* atoi() is not used */' 'const char bn_x[] = "printf(stderr)";'
expect good banned 'banned words in a string and a comment'

# --- lints of what was built
build=$work/build
compile() # file, flags..., the source comes on standard input
{
  mkdir -p "$(dirname "$build/$1")"
  out=$build/$1
  shift
  ${CC:-cc} -x c - -o "$out" -fvisibility=hidden "$@" || {
    echo 'selftest: cannot compile'
    status=1
  }
}
api='__attribute__((visibility("default")))'

fresh_build()
{
  rm -rf "$build"
  echo 'int a(void); int a(void) { return 1; }' | compile src/base/good.o -c
  echo 'static int sink; int *l(void); int *l(void) { return &sink; }' | compile src/base/log.o -c
  echo "$api int sb_x(void); int sb_x(void) { return 1; } int main(void) { return 0; }" |
    compile bin/bench -Wl,--dynamic-list="$work/list"
  echo "$api extern const int bench_driver; const int bench_driver = 1;" |
    compile lib/bench/drivers/x.so -shared -fPIC
}

expect_build() # good or bad, lint, sample
{
  case $2 in
  exports) "$here/exports.sh" "$build" "$work/list" >/dev/null 2>&1 ;;
  *) "$here/$2.sh" "$build" >/dev/null 2>&1 ;;
  esac
  verdict "$1" $? "$2" "$3"
}

echo '{ sb_x; };' >"$work/list"
fresh_build
for lint in globals exports needed; do
  expect_build good $lint 'a good build'
done

echo 'int bn_count;' | compile src/base/bad.o -c
expect_build bad globals 'a global'
echo 'int f(void); int f(void) { static int n; return ++n; }' | compile src/base/bad.o -c
expect_build bad globals 'a static in a function'
echo '_Thread_local int bn_current;' | compile src/base/bad.o -c
expect_build bad globals 'a thread-local'
rm "$build/src/base/bad.o"
echo 'int bn_a, bn_b;' | compile src/base/log.o -c
expect_build bad globals 'a second global where one is allowed'

fresh_build
echo '{ sb_x; sb_y; };' >"$work/list"
expect_build bad exports 'a name on the list that is not exported'
echo '{ };' >"$work/list"
expect_build bad exports 'an exported name that is not on the list'
echo '{ sb_*; };' >"$work/list"
expect_build bad exports 'a wildcard'
echo '{ sb_x; };' >"$work/list"
echo "$api int bench_driver; $api int other;" | compile lib/bench/drivers/x.so -shared -fPIC
expect_build bad exports 'a module that exports more'
echo "int bn_f(void); $api int bench_driver(void); int bench_driver(void) { return bn_f(); }" |
  compile lib/bench/drivers/x.so -shared -fPIC
expect_build bad exports 'a module that wants a symbol of the program'

fresh_build
echo 'int x(void); int x(void) { return 1; }' | compile lib/libsample.so -shared -fPIC
echo 'int main(void) { return 0; }' | compile bin/bench -L"$build/lib" -Wl,--no-as-needed -lsample
expect_build bad needed 'another library'

# --- lints of the objects that the Makefile of a build names
linked() # what the sources a and b of a program and the source of a module are, in this order
{
  rm -rf "$build" "$work/tree"
  fresh
  echo "$1" | compile src/base/a.o -c
  echo "$2" | compile src/base/libbase_a-b.o -c
  echo "$3" | compile src/drivers/x/.libs/la-driver.o -c
  {
    echo 'bin_bench_OBJECTS = src/base/a.o'
    echo 'noinst_LIBRARIES = libbase.a'
    echo 'libbase_a_OBJECTS = src/base/libbase_a-b.o'
    echo 'LTLIBRARIES = src/drivers/x.la'
    echo 'src_drivers_x_la_OBJECTS = src/drivers/x/la-driver.lo'
  } >"$build/Makefile"
}

expect_linked() # good or bad, lint, sample
{
  "$here/$2.sh" "$build" "$work/tree" >"$work/said" 2>&1
  verdict "$1" $? "$2" "$3"
}

linked 'int bn_b(void); int main(void) { return bn_b(); }' 'int bn_b(void) { return 1; }' \
  'int bench_driver(void) { return 1; }'
expect_linked good circles 'calls that go one way'
grep -qx '0 circles' "$work/said" || { echo 'circles: does not say 0 circles'; status=1; }
expect_linked good callers 'a function that another object calls'
put src/base/a.h 'struct bn_s {' '  int (*f)(int bn_none);' '};' \
  'extern struct bn_s *bn_x(int a);' 'static inline int bn_i(void)' \
  '{' '  return 1;' '}' 'int bn_b(void);'
expect_linked bad callers 'a function that is declared and not there'
grep -q 'nothing defines bn_x' "$work/said" || { cat "$work/said"; status=1; }
put src/base/spare.c 'struct bn_s *bn_x(int a)' '{' '  return 0;' '}'
expect_linked good callers 'a function of a source that this build leaves out'

linked 'int bn_b(void); int main(void) { return bn_b(); } int bn_a(void) { return 2; }' \
  'int bn_a(void); int bn_b(void) { return bn_a(); }' 'int bench_driver(void) { return 1; }'
expect_linked bad circles 'two objects that call each other'
grep -q '^  src/base/b.o -> src/base/a.o: bn_a$' "$work/said" || { cat "$work/said"; status=1; }

linked 'int main(void) { return 0; }' 'int bn_b(void) { return 1; }' 'int bn_c(void) { return 1; }'
expect_linked bad callers 'functions that nobody calls'
for name in base/b.c:.*bn_b drivers/x/driver.c:.*bn_c; do
  grep -q "$name" "$work/said" || { cat "$work/said"; status=1; }
done
put src/base/b.c 'int bn_b(int a)' '{' '  return a;' '}' 'int bn_d(void)' '{' \
  '  return bn_b(1);' '}'
put src/drivers/x/driver.c 'static int bn_c(int a)' '{' '  return a ? bn_c(0) : 0;' '}'
expect_linked bad callers 'functions that only their own files call'
mkdir -p "$work/tree/tests" && put tests/a.c 'int a = sizeof bn_b() + sizeof bn_c();'
expect_linked good callers 'functions that their own files and a test call'
mkdir -p "$work/tree/src/script/api"
echo '{ bn_b; bn_c; };' >"$work/tree/src/script/api/exports.list"
expect_linked good callers 'functions that scripts call'

# Kernels as the compiler makes them for words of a type, with @ for the word in what is done.
kernels() # type, reading
{
  {
    echo "typedef $1 word;"
    echo 'struct job { word *at; unsigned long n, *state; };'
    for name in read write write_remaining; do
      case $name in
      read) action=$2 ;;
      write) action='@ = v' ;;
      *) action='@ = v + 1' ;;
      esac
      echo "void memory_${name}_seq(struct job *j, unsigned long v);"
      echo "void memory_${name}_uniform(struct job *j, unsigned long v);"
      echo "void memory_${name}_seq(struct job *j, unsigned long v) { (void)v;"
      echo '  word *w = j->at, *end = w + j->n, *round = end - j->n % 8;'
      echo '  for (; w != round; w += 8) {'
      for i in 0 1 2 3 4 5 6 7; do echo "    $action;" | sed "s/@/w[$i]/"; done
      echo "  } for (; w != end; w++) $action; }" | sed 's/@/*w/'
      echo "void memory_${name}_uniform(struct job *j, unsigned long v) { (void)v;"
      echo '  for (unsigned long k = j->n; k > 0; k--) {'
      echo '    word *at = j->at; unsigned long i = *j->state = *j->state * 5 + 1;'
      echo "    $action;" | sed 's/@/at[i]/'
      echo '    __asm__ volatile("" ::: "memory"); } }'
    done
    echo 'int main(void) { return 0; }'
  } | compile bin/bench -O2
}

fresh_build
if objdump -f "$build/bin/bench" | grep -q elf64-x86-64; then
  kernels 'volatile unsigned long' '(void)@'
  expect_build good kernels 'words of 64 bits, one by one'
  kernels 'volatile unsigned' '(void)@'
  expect_build bad kernels 'words of 32 bits'
  kernels 'unsigned long' '(void)@'
  expect_build bad kernels 'accesses the compiler may drop'
  kernels 'volatile unsigned long' '(void)*j->at'
  expect_build bad kernels 'one word all the time'
fi

exit $status
