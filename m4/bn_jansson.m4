dnl store json, the form of results.
AC_DEFUN([BN_JANSSON], [
  BN_OPTIONAL([jansson], [JANSSON], [jansson], [jansson.h], [jansson], [json_dumpb],
    [result files (--report=json)], [libjansson-dev])
])
