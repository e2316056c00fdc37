/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The normal distribution and Student's t, by which the studies judge differences.

   Pure.  Errors of probabilities are below 1e-10 for up to 1,000 degrees of freedom; quantiles are
   for probabilities from 1e-12 to 1 - 1e-12. */
#ifndef BN_STUDY_STUDENT_H
#define BN_STUDY_STUDENT_H

/* P(Z <= z); the z with P(Z <= z) = p, 0 < p < 1. */
double bn_normal_cdf(double z);
double bn_normal_quantile(double p);
/* The same for t with dof > 0 degrees of freedom, which need not be whole (Welch). */
double bn_student_cdf(double t, double dof);
double bn_student_quantile(double p, double dof);

#endif
