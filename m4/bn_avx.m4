dnl BN_AVX: whether functions can be compiled for a processor with AVX while the rest is for any
AC_DEFUN([BN_AVX], [
  AC_CACHE_CHECK([whether $CC compiles single functions for AVX], [bn_cv_avx],
    [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <immintrin.h>
__attribute__((target("avx512f"))) static void f(double *p) { _mm512_store_pd(p, _mm512_set1_pd(1)); }
]], [[double d[16]; if (__builtin_cpu_supports("avx512f")) f(d);]])],
      [bn_cv_avx=yes], [bn_cv_avx=no])])
  AM_CONDITIONAL([HAVE_AVX], [test "x$bn_cv_avx" = xyes])
])
