dnl jansson reads and writes results; the program itself links it, and so it must be there.
AC_DEFUN([BN_JANSSON], [
  BN_OPTIONAL([jansson], [JANSSON], [jansson], [jansson.h], [jansson], [json_dumpb],
    [result files (--report=json)], [libjansson-dev])
  AS_IF([test "x$bn_have_jansson" != xyes],
    [AC_MSG_ERROR([jansson is required.  Debian, Ubuntu: libjansson-dev; Fedora: jansson-devel])])
])
