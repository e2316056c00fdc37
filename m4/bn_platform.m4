dnl BN_PLATFORM: refuses a platform for which make would fail.
AC_DEFUN([BN_PLATFORM], [
  AS_IF([test "x$cross_compiling" = xyes],
    [AC_MSG_ERROR([bench cannot be cross compiled: make runs it to write the manual pages])])
  AC_CHECK_TYPE([unsigned __int128], [],
    [AC_MSG_ERROR([bench needs a processor of 64 bits: the compiler has no unsigned __int128])])
  AC_MSG_CHECKING([for Linux with glibc])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <malloc.h>
#include <sys/epoll.h>]], [[return mallopt(M_ARENA_MAX, epoll_create1(0));]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([bench needs Linux with glibc])])
])
