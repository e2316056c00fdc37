dnl I/O engine uring.  Its function that is probed came last, with 2.3.
AC_DEFUN([BN_LIBURING], [
  BN_OPTIONAL([liburing], [LIBURING], [liburing], [liburing.h], [uring], [io_uring_submit_and_get_events],
    [--file-io-mode=io_uring of fileio], [liburing-dev 2.3 or later])
])
