dnl LuaJIT, the one library that must be there.  --with-luajit=DIR takes a private copy; the environment
dnl variables LUAJIT_CFLAGS and LUAJIT_LIBS win.  The interpreter (LUAJIT) is wanted for one thing: to
dnl embed the internal modules as bytecode.  Without one that speaks the library's bytecode, they are
dnl embedded as text, which works as well and starts a little later.
AC_DEFUN([BN_LUAJIT], [
  AC_ARG_WITH([luajit],
    [AS_HELP_STRING([--with-luajit=DIR], [take LuaJIT from DIR/include and DIR/lib])],
    [], [with_luajit=auto])
  AC_ARG_VAR([LUAJIT_CFLAGS], [C compiler flags for LuaJIT])
  AC_ARG_VAR([LUAJIT_LIBS], [linker flags for LuaJIT])
  AC_ARG_VAR([LUAJIT], [LuaJIT interpreter used at build time])
  AS_CASE([$with_luajit],
    [no], [AC_MSG_ERROR([LuaJIT cannot be left out: every script runs on it])],
    [yes|auto], [
      AS_IF([test -z "$LUAJIT_LIBS" && test -n "$PKG_CONFIG" && $PKG_CONFIG --exists luajit 2>/dev/null], [
        LUAJIT_CFLAGS=`$PKG_CONFIG --cflags luajit`
        LUAJIT_LIBS=`$PKG_CONFIG --libs luajit`])
      AS_IF([test -z "$LUAJIT_LIBS"], [LUAJIT_LIBS=-lluajit-5.1])],
    [ bn_luajit_inc=$with_luajit/include
      AS_IF([test -d "$with_luajit/include/luajit-2.1"], [bn_luajit_inc=$with_luajit/include/luajit-2.1])
      AS_IF([test ! -f "$bn_luajit_inc/luajit.h"],
        [AC_MSG_ERROR([--with-luajit: there is no $bn_luajit_inc/luajit.h])])
      LUAJIT_CFLAGS="-I$bn_luajit_inc"
      LUAJIT_LIBS="-L$with_luajit/lib -Wl,-rpath,$with_luajit/lib -lluajit-5.1"
      AS_IF([test -z "$LUAJIT"], [LUAJIT=$with_luajit/bin/luajit])])
  BN_TRY_LINK([LuaJIT], [$LUAJIT_CFLAGS], [$LUAJIT_LIBS], [luajit.h], [luaJIT_setmode],
    [bn_have_luajit=yes])
  AS_IF([test "x$bn_have_luajit" != xyes],
    [AC_MSG_ERROR([LuaJIT 2.1 and pkg-config are required.  Debian, Ubuntu: libluajit-5.1-dev pkg-config; Fedora: luajit-devel pkgconf-pkg-config])])
  BN_LUAJIT_VERSION
  AC_PATH_PROGS([LUAJIT], [luajit luajit-2.1 luajit-2.1.0-beta3])
  BN_LUAJIT_BYTECODE
])

dnl 2.0 has neither the FFI's nor the interpreter's functions we rely on.
AC_DEFUN([BN_LUAJIT_VERSION], [
  bn_save_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $LUAJIT_CFLAGS"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <luajit.h>
#if LUAJIT_VERSION_NUM < 20100
#error too old
#endif]])], [], [AC_MSG_ERROR([the LuaJIT found is older than 2.1])])
  CPPFLAGS=$bn_save_CPPFLAGS
])

dnl Does the library load what the interpreter dumps?  A 64-bit-pointer build does not read the other's.
AC_DEFUN([BN_LUAJIT_BYTECODE], [
  AC_MSG_CHECKING([whether internal Lua modules can be embedded as bytecode])
  bn_bytecode=no
  AS_IF([test -n "$LUAJIT" && "$LUAJIT" -e \
         'io.write(string.dump(loadstring("return 42"), true))' >conftest.ljbc 2>/dev/null], [
    bn_save_CPPFLAGS=$CPPFLAGS ; bn_save_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $LUAJIT_CFLAGS" ; LIBS="$LUAJIT_LIBS $LIBS"
    AC_RUN_IFELSE([AC_LANG_PROGRAM([[#include <lua.h>
#include <lauxlib.h>]], [[lua_State *L = luaL_newstate();
if (L == NULL || luaL_loadfile(L, "conftest.ljbc") != 0 || lua_pcall(L, 0, 1, 0) != 0)
  return 1;
return lua_tointeger(L, -1) != 42;]])], [bn_bytecode=yes], [], [])
    CPPFLAGS=$bn_save_CPPFLAGS ; LIBS=$bn_save_LIBS])
  rm -f conftest.ljbc
  AS_IF([test "x$bn_bytecode" = xyes], [LUA_COMPILER=$LUAJIT], [LUA_COMPILER=])
  AC_SUBST([LUA_COMPILER])
  AC_MSG_RESULT([$bn_bytecode])
])
