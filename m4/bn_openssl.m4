dnl OpenSSL encrypts what the drivers of servers send themselves; their client libraries need it too.
dnl SSL_CTX_new_ex() came with 3.0, whose reasons of errors the drivers read.
AC_DEFUN([BN_OPENSSL], [
  BN_OPTIONAL([openssl], [OPENSSL], [openssl], [openssl/ssl.h], [ssl -lcrypto], [SSL_CTX_new_ex],
    [encrypted connections of the drivers mysql and pgsql], [libssl-dev])
  AS_IF([test "x$bn_have_openssl" != xyes],
    [AC_MSG_ERROR([OpenSSL 3.0 is required.  Debian, Ubuntu: libssl-dev; Fedora: openssl-devel])])
])
