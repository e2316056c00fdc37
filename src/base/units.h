/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses and prints sizes, numbers and durations; trailing garbage is an error. */
#ifndef BN_BASE_UNITS_H
#define BN_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All return 0 and set *out, or -1 if the text has another form or is out of the range of the type.
   Leading blanks are skipped and '+' is accepted where strtol accepts it; nothing may follow. */
int bn_units_int(const char *text, int64_t *out);   /* base 10 */
int bn_units_double(const char *text, double *out); /* finite */
/* digits [KMGT] [B | iB]; powers of 1024, any case. */
int bn_units_size(const char *text, uint64_t *out);
/* As double, or as size: "1.5", "1e3", "10K". */
int bn_units_number(const char *text, double *out);
/* number [ms|s|m|h], not negative; bare: seconds. */
int bn_units_duration(const char *text, double *seconds);
/* Read at *at and move it behind what they read: digits with a decimal point between two of them
   or without (two dots are those of a range), and such digits with ns, us, ms, s, m or h; bare:
   seconds.  Return false if there are none. */
bool bn_units_read(const char **at, double *value);
bool bn_units_read_ns(const char **at, double *ns);
int bn_units_bool(const char *text, bool *out); /* on true 1 / off false 0 */

/* Prints a size as sysbench does: value / 1024^n with "%.5g" and "" "Ki" "Mi" "Gi" "Ti" (iec) or ""
   "K" "M" "G" "T"; without the final B.  Returns buf. */
const char *bn_units_format_size(char *buf, size_t len, uint64_t bytes, bool iec);

/* Restores the decimal point that programs read in a number that printf wrote (%g, %f, %La): a
   script may have set a locale with another one. */
void bn_units_point(char *digits);
/* Prints the shortest of 15 to 17 digits that is read back as the same number, in any locale; value
   is finite.  Returns digits. */
enum { BN_UNITS_DIGITS = 32 };
const char *bn_units_shortest(char digits[BN_UNITS_DIGITS], double value);

/* Returns how many decimals show three significant digits of value: `least` to 9. */
int bn_units_decimals(double value, int least);

#endif
