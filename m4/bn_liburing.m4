dnl I/O engine uring.
AC_DEFUN([BN_LIBURING], [
  BN_OPTIONAL([liburing], [LIBURING], [liburing], [liburing.h], [uring], [io_uring_queue_init],
    [--file-io-mode=io_uring of fileio], [liburing-dev])
])
