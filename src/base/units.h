/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses and prints sizes, numbers and durations; trailing garbage is an error. */
#ifndef BN_BASE_UNITS_H
#define BN_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All functions that return int parse a whole text.  They return 0 and set *out, or -1 if the text
   has another form or is out of the range of the type.  Leading blanks are skipped and '+' is
   accepted where strtol accepts it; nothing may follow. */
/* Parses a whole number to the base 10. */
int bn_units_parse_int(const char *text, int64_t *out);
/* Parses a finite number. */
int bn_units_parse_double(const char *text, double *out);
/* Parses digits [KMGT] [B | iB]; the letters are powers of 1024, in any case. */
int bn_units_parse_size(const char *text, uint64_t *out);
/* Parses a number as bn_units_parse_double or as bn_units_parse_size: "1.5", "1e3", "10K". */
int bn_units_parse_number(const char *text, double *out);
/* Parses a number >= 0 with ms, s, m or h; without a unit it is seconds. */
int bn_units_parse_duration(const char *text, double *seconds);
/* Parses on, true or 1, and off, false or 0. */
int bn_units_parse_bool(const char *text, bool *out);
/* Reads digits at *text, with at most one decimal point between two of them, and moves *text past
   them; ".." is the sign of a range and ends them.  Returns false if there are no digits or too
   many. */
bool bn_units_read(const char **text, double *value);
/* As bn_units_read, with ns, us, ms, s, m or h after the digits; without a unit they are
   seconds. */
bool bn_units_read_ns(const char **text, double *ns);

/* Prints a size as sysbench does: value / 1024^n with "%.5g" and "" "Ki" "Mi" "Gi" "Ti" (iec) or ""
   "K" "M" "G" "T"; without the final B.  Returns buf. */
const char *bn_units_format_size(char *buf, size_t len, uint64_t bytes, bool iec);

/* Puts '.' in the place of another decimal point in a number that printf wrote (%g, %f, %La): a
   script may have set a locale with another point. */
void bn_units_restore_point(char *digits);
/* Prints the shortest of 15 to 17 digits that is read back as the same number, in any locale; value
   is finite.  Returns digits. */
enum { BN_UNITS_DIGITS = 32 };
const char *bn_units_format_shortest(char digits[BN_UNITS_DIGITS], double value);

/* Returns how many decimals show three significant digits of value, but at least `least` and at
   most 9.  Returns `least` for NaN and for a value that is not above 0. */
int bn_units_count_decimals(double value, int least);

#endif
