dnl placement on NUMA nodes.
AC_DEFUN([BN_NUMA], [
  BN_OPTIONAL([numa], [NUMA], [numa], [numa.h], [numa], [numa_available],
    [--memory-numa of the memory test], [libnuma-dev])
])
