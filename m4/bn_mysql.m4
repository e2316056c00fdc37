dnl MySQL and MariaDB, by the first of: --with-mysql=DIR, mysql_config, mariadb_config, and pkg-config's
dnl mysqlclient and libmariadb.  MYSQL_CONFIG names another configuration program.
AC_DEFUN([BN_MYSQL], [
  AC_ARG_WITH([mysql],
    [AS_HELP_STRING([--with-mysql@<:@=DIR@:>@], [driver mysql @<:@auto@:>@])], [], [with_mysql=auto])
  AC_ARG_VAR([MYSQL_CONFIG], [mysql_config or mariadb_config to ask])
  AC_ARG_VAR([MYSQL_CFLAGS], [C compiler flags for the MySQL client library])
  AC_ARG_VAR([MYSQL_LIBS], [linker flags for the MySQL client library])
  bn_have_mysql=no
  AS_CASE([$with_mysql], [no], [], [
    AS_CASE([$with_mysql], [yes|auto], [bn_mysql_path=$PATH],
      [bn_mysql_path=$with_mysql/bin
       AS_IF([test -z "$MYSQL_CONFIG"], [bn_mysql_dir=$with_mysql])])
    AS_IF([test -z "$MYSQL_LIBS"], [
      AC_PATH_PROGS([MYSQL_CONFIG], [mysql_config mariadb_config], [], [$bn_mysql_path])
      AS_IF([test -n "$MYSQL_CONFIG"], [
          MYSQL_CFLAGS=`$MYSQL_CONFIG --include`
          MYSQL_LIBS=`$MYSQL_CONFIG --libs`],
        [test -n "$bn_mysql_dir"], [BN_MYSQL_DIR([$bn_mysql_dir])],
        [test -n "$PKG_CONFIG" && $PKG_CONFIG --exists mysqlclient 2>/dev/null], [
          MYSQL_CFLAGS=`$PKG_CONFIG --cflags mysqlclient`
          MYSQL_LIBS=`$PKG_CONFIG --libs mysqlclient`],
        [test -n "$PKG_CONFIG" && $PKG_CONFIG --exists libmariadb 2>/dev/null], [
          MYSQL_CFLAGS=`$PKG_CONFIG --cflags libmariadb`
          MYSQL_LIBS=`$PKG_CONFIG --libs libmariadb`])])
    AS_IF([test -n "$MYSQL_LIBS"], [
      BN_TRY_LINK([mysql], [$MYSQL_CFLAGS], [$MYSQL_LIBS], [mysql.h], [mysql_real_connect],
        [bn_have_mysql=yes])])
  ])
  AS_IF([test "x$bn_have_mysql" = xyes], [AC_DEFINE([HAVE_MYSQL], [1], [driver mysql])], [
    MYSQL_CFLAGS= ; MYSQL_LIBS=
    AS_CASE([$with_mysql], [no|auto], [],
      [AC_MSG_ERROR([mysql was asked for and not found (Debian package: libmariadb-dev)])])])
  AM_CONDITIONAL([HAVE_MYSQL], [test "x$bn_have_mysql" = xyes])
  BN_MYSQL_VENDOR
  BN_SUMMARY([mysql], [$bn_have_mysql], [$with_mysql], [driver mysql], [libmariadb-dev])
])

dnl The conditional MYSQL_ORACLE: libmysqlclient, not MariaDB Connector/C
AC_DEFUN([BN_MYSQL_VENDOR], [
  bn_mysql_oracle=no
  AS_IF([test "x$bn_have_mysql" = xyes], [
    bn_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $MYSQL_CFLAGS"
    AC_MSG_CHECKING([whether mysql is libmysqlclient])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mysql.h>]], [[return SSL_MODE_REQUIRED;]])],
      [bn_mysql_oracle=yes])
    AC_MSG_RESULT([$bn_mysql_oracle])
    dnl Older ones take a list of methods for the name of an attribute to forget: nothing happens.
    AS_IF([test $bn_mysql_oracle = no], [
      AC_CHECK_DECL([MARIADB_OPT_RESTRICTED_AUTH], [],
        [MYSQL_CFLAGS="$MYSQL_CFLAGS -DMARIADB_OPT_RESTRICTED_AUTH=MYSQL_OPT_CONNECT_ATTR_DELETE"],
        [[#include <mysql.h>]])
      dnl Without it, a login that the server never ends is not bounded.
      AC_CHECK_DECL([MARIADB_OPT_IO_WAIT],
        [MYSQL_CFLAGS="$MYSQL_CFLAGS -DBN_MYSQL_IO_WAIT"], [], [[#include <mysql.h>]])])
    CPPFLAGS=$bn_save_CPPFLAGS
  ])
  AM_CONDITIONAL([MYSQL_ORACLE], [test "x$bn_mysql_oracle" = xyes])
])

dnl BN_MYSQL_DIR(DIR): a copy unpacked somewhere without a configuration program
AC_DEFUN([BN_MYSQL_DIR], [
  for bn_try in "$1/include/mysql" "$1/include/mariadb" "$1/include"; do
    AS_IF([test -z "$MYSQL_CFLAGS" && test -f "$bn_try/mysql.h"], [MYSQL_CFLAGS="-I$bn_try"])
  done
  for bn_try in "$1/lib/mysql" "$1/lib/mariadb" "$1/lib"; do
    for bn_name in mysqlclient mariadb; do
      AS_IF([test -z "$MYSQL_LIBS" && test -f "$bn_try/lib$bn_name.so"],
        [MYSQL_LIBS="-L$bn_try -Wl,-rpath,$bn_try -l$bn_name"])
    done
  done
])
