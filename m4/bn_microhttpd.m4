dnl web module http, which serves the metrics of a run.
AC_DEFUN([BN_MICROHTTPD], [
  BN_OPTIONAL([microhttpd], [MICROHTTPD], [libmicrohttpd], [microhttpd.h], [microhttpd],
    [MHD_start_daemon], [live metrics (--metrics-listen)], [libmicrohttpd-dev])
])
