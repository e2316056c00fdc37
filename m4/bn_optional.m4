dnl BN_OPTIONAL(name, VAR, pkg-config module, header, library, function, what it serves, Debian package)
dnl
dnl Looks for one optional library.  --without-NAME drops it, --with-NAME=DIR takes a private copy from
dnl DIR/include and DIR/lib, --with-NAME makes its absence an error.  The environment variables
dnl VAR_CFLAGS and VAR_LIBS win over everything.  Results: VAR_CFLAGS, VAR_LIBS, $bn_have_NAME, the
dnl conditional and the definition HAVE_VAR, and a line of the summary.
AC_DEFUN([BN_OPTIONAL], [
  AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1@<:@=DIR@:>@], [$7 @<:@auto@:>@])],
    [], [with_$1=auto])
  AC_ARG_VAR([$2][_CFLAGS], [C compiler flags for $1])
  AC_ARG_VAR([$2][_LIBS], [linker flags for $1])
  bn_have_$1=no
  AS_CASE([$with_$1],
    [no], [],
    [yes|auto], [
      AS_IF([test -z "$[]$2[]_LIBS" && test -n "$PKG_CONFIG" && $PKG_CONFIG --exists "$3" 2>/dev/null], [
        $2[]_CFLAGS=`$PKG_CONFIG --cflags "$3"`
        $2[]_LIBS=`$PKG_CONFIG --libs "$3"`])
      AS_IF([test -z "$[]$2[]_LIBS"], [$2[]_LIBS="-l$5"])],
    [ AS_IF([test ! -f "$with_$1/include/$4"],
        [AC_MSG_ERROR([--with-$1: there is no $with_$1/include/$4])])
      $2[]_CFLAGS="-I$with_$1/include"
      $2[]_LIBS="-L$with_$1/lib -Wl,-rpath,$with_$1/lib -l$5"])
  AS_IF([test "x$with_$1" != xno], [
    BN_TRY_LINK([$1], [$[]$2[]_CFLAGS], [$[]$2[]_LIBS], [$4], [$6], [bn_have_$1=yes])])
  AS_IF([test "x$bn_have_$1" = xyes], [AC_DEFINE([HAVE_$2], [1], [$7])], [
    $2[]_CFLAGS= ; $2[]_LIBS=
    AS_CASE([$with_$1], [no|auto], [],
      [AC_MSG_ERROR([$1 was asked for and not found (Debian package: $8)])])])
  AM_CONDITIONAL([HAVE_$2], [test "x$bn_have_$1" = xyes])
  BN_SUMMARY([$1], [$bn_have_$1], [$with_$1], [$7], [$8])
])

dnl BN_TRY_LINK(label, cflags, libs, header, function, if-found): a trial link that leaves CPPFLAGS and LIBS alone
dnl The compiler must not know the address: it would leave out the reference to the function.
AC_DEFUN([BN_TRY_LINK], [
  bn_save_CPPFLAGS=$CPPFLAGS ; bn_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $2" ; LIBS="$3 $LIBS"
  AC_MSG_CHECKING([for $1 ($4, $5)])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stddef.h>
#include <$4>]], [[void *volatile f = (void *)&$5; return f == NULL;]])],
    [AC_MSG_RESULT([yes]) ; bn_linked=yes], [AC_MSG_RESULT([no]) ; bn_linked=no])
  CPPFLAGS=$bn_save_CPPFLAGS ; LIBS=$bn_save_LIBS
  AS_IF([test "x$bn_linked" = xyes], [$6])
])

dnl BN_SUMMARY(name, found, wanted, what it serves, Debian package): remembers one line for the end
AC_DEFUN([BN_SUMMARY], [
  AS_CASE(["$2:$3:$4"],
    [yes:*], [bn_line=`printf '  %-14s yes   %s' "$1" "$4"`],
    [no:no:*], [bn_line=`printf '  %-14s off   %s, left out as asked' "$1" "$4"`],
    [bn_line=`printf '  %-14s NO    %s, left out; to have it install %s' "$1" "$4" "$5"`])
  AS_VAR_APPEND([bn_summary], ["$bn_line
"])
])
