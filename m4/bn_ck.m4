dnl more lock types for the mutex test.
AC_DEFUN([BN_CK], [
  BN_OPTIONAL([ck], [CK], [ck], [ck_array.h], [ck], [ck_array_init],
    [more lock types for the mutex test], [libck-dev])
])
