dnl Builds that look for faults: --enable-asan, --enable-ubsan, --enable-tsan, --enable-coverage and
dnl --enable-fuzzing (Clang's libFuzzer).  Their flags go to every object and every link.
AC_DEFUN([BN_SANITIZERS], [
  AC_ARG_ENABLE([asan], [AS_HELP_STRING([--enable-asan], [build with AddressSanitizer and LeakSanitizer])])
  AC_ARG_ENABLE([ubsan], [AS_HELP_STRING([--enable-ubsan], [build with UndefinedBehaviorSanitizer])])
  AC_ARG_ENABLE([tsan], [AS_HELP_STRING([--enable-tsan], [build with ThreadSanitizer])])
  AC_ARG_ENABLE([coverage], [AS_HELP_STRING([--enable-coverage], [record which lines the tests reach])])
  AC_ARG_ENABLE([fuzzing], [AS_HELP_STRING([--enable-fuzzing], [build the fuzz targets (needs clang)])])
  SAN_CFLAGS=
  bn_instrumented=
  AS_IF([test "x$enable_asan" = xyes && test "x$enable_tsan" = xyes],
    [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other])])
  AS_IF([test "x$enable_asan" = xyes], [BN_NEED_SANITIZER([-fsanitize=address], [asan])])
  AS_IF([test "x$enable_ubsan" = xyes],
    [BN_NEED_SANITIZER([-fsanitize=undefined -fno-sanitize-recover=undefined], [ubsan])])
  AS_IF([test "x$enable_tsan" = xyes], [BN_NEED_SANITIZER([-fsanitize=thread], [tsan])])
  AS_IF([test "x$enable_coverage" = xyes], [BN_NEED_SANITIZER([--coverage], [coverage])])
  FUZZ_CFLAGS=
  AS_IF([test "x$enable_fuzzing" = xyes], [
    BN_NEED_SANITIZER([-fsanitize=fuzzer-no-link], [fuzzing])
    FUZZ_CFLAGS=-fsanitize=fuzzer])
  AS_IF([test -n "$bn_instrumented"], [AS_VAR_APPEND([SAN_CFLAGS], [" -fno-omit-frame-pointer"])])
  AM_CONDITIONAL([INSTRUMENTED], [test -n "$bn_instrumented"])
  AM_CONDITIONAL([FUZZING], [test "x$enable_fuzzing" = xyes])
  AC_SUBST([SAN_CFLAGS])
  AC_SUBST([FUZZ_CFLAGS])
])

dnl BN_NEED_SANITIZER(flags, name): was asked for, so a compiler that cannot is an error
AC_DEFUN([BN_NEED_SANITIZER], [
  AC_MSG_CHECKING([whether $CC links with $1])
  bn_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $1"
  AC_LINK_IFELSE([AC_LANG_PROGRAM()], [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([--enable-$2: $CC cannot build with $1])])
  CFLAGS=$bn_save_CFLAGS
  AS_VAR_APPEND([SAN_CFLAGS], [" $1"])
  AS_VAR_APPEND([bn_instrumented], [" $2"])
])
