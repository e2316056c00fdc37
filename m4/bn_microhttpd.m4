dnl metrics over HTTP.
AC_DEFUN([BN_MICROHTTPD], [
  BN_OPTIONAL([microhttpd], [MICROHTTPD], [libmicrohttpd], [microhttpd.h], [microhttpd], [MHD_start_daemon],
    [metrics over HTTP (from a later version on)], [libmicrohttpd-dev])
])
