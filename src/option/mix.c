/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits the name of a mix into its workloads. */
#include "option/mix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/units.h"

enum { MIX_SHOWN_SIZE = 257 }; /* bytes of the part of a name that a message shows, with its 0 */

/* Returns the '@' between the name and the weight of the workload text[0..len), or NULL if it has
   no weight.  A weight has only characters of numbers and percentages, and does not begin with "e"
   or "E".  It is checked later: "1..2" in "a@1..2" is a weight, which is refused. */
static const char *mix_find_mark(const char *text, size_t len)
{
  size_t begin = len; /* of the weight */

  while (begin > 0 && strchr("0123456789.eE+-%", text[begin - 1]) != NULL)
    begin--;
  const bool has_weight = begin < len && strchr("eE", text[begin]) == NULL;
  const bool has_mark = begin >= strlen("N@") && text[begin - 1] == '@';

  return has_weight && has_mark ? text + begin - 1 : NULL;
}

bool bn_mix_has_weight(const char *text)
{
  return text != NULL && mix_find_mark(text, strlen(text)) != NULL;
}

bool bn_mix_is_test(const struct bn_policy *policy, const char *test)
{
  return bn_policy_is_native(policy) && bn_mix_has_weight(test);
}

/* Returns the weight text[0..len), an integer or a decimal, or 0 if it is no number up to 1e9. */
static double mix_read_weight(const char *text, size_t len)
{
  char digits[BN_UNITS_DIGITS];
  double weight;

  if (len >= sizeof digits || strspn(text, "0123456789.") < len)
    return 0;
  memcpy(digits, text, len);
  digits[len] = '\0';
  return bn_units_parse_double(digits, &weight) == 0 && weight <= 1e9 ? weight : 0;
}

/* Returns the length of the first workload of the text, which ends at a blank after a weight, or
   with the text: 5 for "a b@8 c@2". */
static size_t mix_find_length(const char *text)
{
  for (const char *blank = strchr(text, ' '); blank != NULL; blank = strchr(blank + 1, ' '))
    if (mix_find_mark(text, (size_t)(blank - text)) != NULL)
      return (size_t)(blank - text);
  return strlen(text);
}

/* Writes the part of a workload that messages show.  A URI with an address looks like a name and
   its weight: "mysql://user:password@10.0.0.1". */
static void mix_mask_part(const char *text, size_t len, char shown[MIX_SHOWN_SIZE])
{
  char part[MIX_SHOWN_SIZE], masked[BN_MASK_MAX];

  (void)snprintf(part, sizeof part, "%.*s", (int)(len < sizeof part ? len : sizeof part - 1), text);
  (void)snprintf(shown, MIX_SHOWN_SIZE, "%s", bn_mask_text(part, masked));
}

int bn_mix_next(const char **pos, struct bn_mix_item *item, struct bn_err *err)
{
  const char *text = *pos + strspn(*pos, " "), *mark;
  const size_t len = mix_find_length(text);
  char shown[MIX_SHOWN_SIZE];

  if (len == 0)
    return 0;
  *pos = text + len;
  mark = mix_find_mark(text, len);
  if (mark == NULL) {
    mix_mask_part(text, len, shown);
    return bn_err_set(err, EINVAL, "%s: each of several workloads needs a weight, such as %s@1",
                      shown, shown);
  }
  const size_t name_len = (size_t)(mark - text), weight_len = len - name_len - strlen("@");

  *item = (struct bn_mix_item){
      .name = text, .len = name_len, .weight = mix_read_weight(mark + 1, weight_len)};
  if (item->weight > 0)
    return 1;
  mix_mask_part(text, len, shown);
  return bn_err_set(err, EINVAL,
                    "%s: the weight of a workload must be a number above 0 and up to 1e9, "
                    "written as 8 or 2.5",
                    shown);
}
