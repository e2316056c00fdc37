dnl driver sqlite, the embedded database.
AC_DEFUN([BN_SQLITE3], [
  BN_OPTIONAL([sqlite3], [SQLITE3], [sqlite3], [sqlite3.h], [sqlite3], [sqlite3_open_v2],
    [driver sqlite, the embedded database], [libsqlite3-dev])
])
