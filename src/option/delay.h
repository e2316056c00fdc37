/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The grammar of all times that are drawn at random: "exp:5ms". */
#ifndef BN_OPTION_DELAY_H
#define BN_OPTION_DELAY_H

#include "api/delay.h"

/* The forms that bn_delay_parse takes, for messages. */
extern const char bn_delay_forms[];

/* Parses the distribution of a time.  Returns 0, or -1 if the text has another form or names more
   than a day; *out is then unchanged. */
int bn_delay_parse(const char *text, struct bn_delay *out);

#endif
