dnl compressed report files.
AC_DEFUN([BN_ZLIB], [
  BN_OPTIONAL([zlib], [ZLIB], [zlib], [zlib.h], [z], [deflate],
    [compressed report files (from a later version on)], [zlib1g-dev])
])
