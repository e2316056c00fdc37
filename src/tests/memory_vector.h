/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vector kernels of the memory test: STREAM's four, and plain reading and writing as wide as
   the processor can. */
#ifndef BN_TESTS_MEMORY_VECTOR_H
#define BN_TESTS_MEMORY_VECTOR_H

#include <stddef.h>

#include "base/err.h"

enum { BN_VECTOR_LINE = 64, BN_VECTOR_ARRAYS = 3 };

/* A pass over `bytes` of each array, a multiple of BN_VECTOR_LINE.  The arrays are aligned to
   BN_VECTOR_LINE, and no other thread uses them during the pass. */
struct bn_vector_job {
  double *a, *b, *c;
  size_t bytes;
};

typedef void (*bn_vector_work)(const struct bn_vector_job *job);

/* Features of processors; bits. */
enum bn_vector_feature { BN_VECTOR_AVX = 1, BN_VECTOR_AVX2 = 2, BN_VECTOR_AVX512 = 4 };

/* A version of a kernel. */
struct bn_vector_kernel {
  const char *name;  /* the value of --memory-kernel */
  const char *width; /* "512 bits", the width of an access for the user */
  unsigned needs;    /* features that this version requires */
  unsigned reads;    /* arrays read in a pass, STREAM's way of counting */
  unsigned writes;   /* arrays written */
  bn_vector_work work;
};

/* Tables that end with a NULL name, in which the preferred version of a kernel comes first.  Where
   the compiler does not know AVX, the wide kernels have no code and are never found. */
extern const struct bn_vector_kernel bn_vector_kernels_wide[], bn_vector_kernels_plain[];

/* Returns the features of this processor. */
unsigned bn_vector_features(void);
/* Returns the best version of a kernel on a processor with these features, or NULL and err. */
const struct bn_vector_kernel *bn_vector_find(const char *name, unsigned features,
                                              struct bn_err *err);

#endif
