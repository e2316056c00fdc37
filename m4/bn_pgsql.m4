dnl driver pgsql.
AC_DEFUN([BN_PGSQL], [
  BN_OPTIONAL([pgsql], [PGSQL], [libpq], [libpq-fe.h], [pq], [PQconnectdbParams],
    [driver pgsql], [libpq-dev])
])
