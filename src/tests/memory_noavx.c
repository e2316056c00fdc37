/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands for memory_avx.c where the compiler knows no AVX. */
#include "tests/memory_vector.h"

const struct bn_vector_kernel bn_vector_kernels_wide[] = {
    {.name = "avx-read", .needs = BN_VECTOR_AVX},
    {.name = "avx-write", .needs = BN_VECTOR_AVX},
    {.name = "nt-write", .needs = BN_VECTOR_AVX},
    {.name = NULL},
};

unsigned bn_vector_features(void)
{
  return 0;
}
