/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Universal Scalability Law: how the rate follows from the number of threads.

   Neil J. Gunther, "A Simple Capacity Model of Massively Parallel Transaction Systems" (CMG 1993)
   and "Guerrilla Capacity Planning" (2007):

     X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))

   gamma is the rate of one thread, alpha the share of the work that threads do one after the other
   (contention), and beta the cost of keeping each pair of threads coherent (crosstalk).

   The fit is the nonlinear least squares of log X, because the errors of rates are relative, with
   alpha and beta of 0 or more; the method is that of Levenberg (1944) and Marquardt (1963).  The
   intervals follow from the linearized model at the solution and Student's t with n - 3 degrees of
   freedom (Seber and Wild, "Nonlinear Regression", 1989, 5.1), for gamma on the scale of logs, and
   end at 0.  Pure. */
#ifndef BN_STUDY_USL_H
#define BN_STUDY_USL_H

#include <stdbool.h>
#include <stddef.h>

enum { BN_USL_LEAST = 4 };

/* With the 95 % confidence interval. */
struct bn_usl_value {
  double value, low, high;
};

struct bn_usl {
  struct bn_usl_value gamma, alpha, beta;
  bool has_peak;            /* the rate is the largest with a finite number of threads, 1 or more */
  struct bn_usl_value peak; /* that number, which need not be whole; its interval is that of its
                               log, by the delta method */
  double peak_rate;
  double r_squared; /* of the rates themselves */
};

/* threads: n different numbers of 1 or more; rate: of each.  false: fewer than BN_USL_LEAST rates
   are more than 0, or no parameters explain them. */
bool bn_usl_fit(const double *threads, const double *rate, size_t n, struct bn_usl *out);

#endif
