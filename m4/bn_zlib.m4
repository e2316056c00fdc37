dnl codec zlib, in which logs of HdrHistogram are compressed.
AC_DEFUN([BN_ZLIB], [
  BN_OPTIONAL([zlib], [ZLIB], [zlib], [zlib.h], [z], [compress],
    [HdrHistogram logs (--report=hdr)], [zlib1g-dev])
])
