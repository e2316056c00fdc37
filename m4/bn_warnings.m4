dnl The warnings every file is clean under, as far as the compiler knows them.  --enable-werror makes
dnl them errors; ./check builds with it, users' newer compilers do not.
AC_DEFUN([BN_WARNINGS], [
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat warnings as errors])])
  WARN_CFLAGS=
  m4_foreach_w([bn_flag], [-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wformat=2 -Wundef
    -Wnull-dereference -Wconversion -Wno-sign-conversion],
    [BN_CC_FLAG(bn_flag, [WARN_CFLAGS])])
  AS_IF([test "x$enable_werror" = xyes], [AS_VAR_APPEND([WARN_CFLAGS], [" -Werror"])])
  AC_SUBST([WARN_CFLAGS])
])

dnl BN_CC_FLAG(flag, VAR): adds a flag the compiler takes without complaint
AC_DEFUN([BN_CC_FLAG], [
  AS_VAR_PUSHDEF([bn_known], [bn_cv_cc_flag_$1])
  AC_CACHE_CHECK([whether $CC takes $1], [bn_known], [
    bn_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $1"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
      [AS_VAR_SET([bn_known], [yes])], [AS_VAR_SET([bn_known], [no])])
    CFLAGS=$bn_save_CFLAGS])
  AS_VAR_IF([bn_known], [yes], [AS_VAR_APPEND([$2], [" $1"])])
  AS_VAR_POPDEF([bn_known])
])
