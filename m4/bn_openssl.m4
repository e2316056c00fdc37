dnl OpenSSL encrypts what the drivers of servers send themselves; their client libraries need it too.
AC_DEFUN([BN_OPENSSL], [
  BN_OPTIONAL([openssl], [OPENSSL], [openssl], [openssl/ssl.h], [ssl -lcrypto], [SSL_read],
    [encrypted connections of the drivers mysql and pgsql], [libssl-dev])
  AS_IF([test "x$bn_have_openssl" != xyes],
    [AC_MSG_ERROR([OpenSSL is required.  Debian, Ubuntu: libssl-dev; Fedora: openssl-devel])])
])
