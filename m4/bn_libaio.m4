dnl I/O engine libaio.
AC_DEFUN([BN_LIBAIO], [
  BN_OPTIONAL([libaio], [LIBAIO], [libaio], [libaio.h], [aio], [io_submit],
    [--file-io-mode=async of fileio], [libaio-dev])
])
