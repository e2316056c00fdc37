/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Option lines of the help and of the manual pages, from the declarations. */
#include "option/opt.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "option/optval.h"

/* The groups whose options are listed together. */
struct block {
  const struct bn_optset *set;
  const char *const *groups;
  size_t n_groups;
  const struct bn_policy *policy;
};

/* Returns the form of the value that the help shows after the name of an option: "=N". */
static const char *opthelp_find_form(const struct bn_opt *o, const struct bn_policy *policy)
{
  if (o->as_switch)
    return policy->bool_form;
  if (o->form != NULL)
    return o->form;
  if (policy->lists_are_single && o->single05) /* the list is a single value in 0.5 */
    return o->whole ? "=N" : "=STRING";
  switch (o->type) {
  case BN_BOOL:
    return policy->bool_form;
  case BN_INT:
  case BN_DOUBLE:
  case BN_SECONDS:
    return "=N";
  case BN_SIZE:
    return "=SIZE";
  case BN_STRING:
  case BN_CHOICE:
    return "=STRING";
  case BN_LIST:
    return "=[LIST,...]";
  case BN_PATH:
    return "=FILENAME";
  }
  return "";
}

/* Returns whether the help of the dialect has the option under this name. */
static bool opthelp_is_listed(const struct block *b, const struct bn_opt *o)
{
  return !o->hidden && (b->policy->lists_own || (o->in & b->policy->listed) != 0);
}

/* Returns the old name of an option, if the dialect lists it, or NULL. */
static const struct bn_opt *opthelp_find_old_name(const struct block *b, const struct bn_opt *o)
{
  const struct bn_opt *a;

  for (size_t i = 0; (a = bn_optset_get_at(b->set, i, NULL)) != NULL; i++)
    if (a->alias_of != NULL && strcmp(a->alias_of, o->name) == 0 && opthelp_is_listed(b, a))
      return a;
  return NULL;
}

/* Returns what the help lists for an option: the option, or its old name in a dialect that has only
   that, or NULL. */
static const struct bn_opt *opthelp_find_listed(const struct block *b, const struct bn_opt *o)
{
  if (b->policy->help_has_old_names && o->alias_of != NULL)
    return NULL; /* it can only stand in the place of its present name */
  if (opthelp_is_listed(b, o))
    return o;
  return b->policy->help_has_old_names ? opthelp_find_old_name(b, o) : NULL;
}

/* Calls fn for the options to be listed, group after group. */
static void
opthelp_each_listed(const struct block *b,
                    void (*fn)(void *arg, const struct block *b, const struct bn_opt *o), void *arg)
{
  const struct bn_opt *o;
  const char *group;

  for (size_t g = 0; g < b->n_groups; g++)
    for (size_t i = 0; (o = bn_optset_get_at(b->set, i, &group)) != NULL; i++) {
      const bool is_in_group = strcmp(b->groups[g], group) == 0;
      const struct bn_opt *listed = is_in_group ? opthelp_find_listed(b, o) : NULL;

      if (listed != NULL)
        fn(arg, b, listed);
    }
}

enum { LETTER_SIZE = 16 };

/* Returns ", -o FILE" for "--output=FILE", or "" for an option without a letter. */
static const char *opthelp_format_letter(const struct bn_opt *o, const struct bn_policy *policy,
                                         char out[LETTER_SIZE])
{
  out[0] = '\0';
  if (o->letter != '\0')
    (void)snprintf(out, LETTER_SIZE, ", -%c %s", o->letter, opthelp_find_form(o, policy) + 1);
  return out;
}

/* Widens *arg, the width of the options, to the length of "--name=FORM, -o FORM" and a blank.  In a
   dialect, the form of a value is a column of its own with a fixed width. */
static void opthelp_measure(void *arg, const struct block *b, const struct bn_opt *o)
{
  size_t *width = arg;
  char letter[LETTER_SIZE];
  size_t len = strlen("--") + strlen(o->name) + strlen(opthelp_format_letter(o, b->policy, letter));

  if (b->policy->form_width > 0)
    len += b->policy->form_width;
  else
    len += strlen(opthelp_find_form(o, b->policy)) + 1;
  if (len > *width)
    *width = len;
}

/* A block of option lines that is being printed. */
struct printing {
  FILE *out;
  size_t width;          /* of the longest option */
  size_t start, columns; /* where texts begin and end */
};

/* Prints the gap before a word of that length: nothing at p->start, else a blank, or a line break
   if the word would end beyond p->columns.  Returns the column of the word. */
static size_t opthelp_print_gap(const struct printing *p, size_t column, size_t len)
{
  if (column == p->start)
    return column;
  if (column + 1 + len <= p->columns) {
    (void)fputc(' ', p->out);
    return column + 1;
  }
  (void)fprintf(p->out, "\n%*s", (int)p->start, "");
  return p->start;
}

/* Prints a text and "[def]", unless that is NULL, in lines that end before p->columns. */
static void opthelp_print_words(const struct printing *p, const char *text, const char *def)
{
  size_t column = p->start, len;

  for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
    len = strcspn(text, " ");
    column = opthelp_print_gap(p, column, len) + len;
    (void)fprintf(p->out, "%.*s", (int)len, text);
    text += len;
  }
  if (def != NULL) {
    (void)opthelp_print_gap(p, column, strlen(def) + strlen("[]"));
    (void)fprintf(p->out, "[%s]", def);
  }
}

/* Prints the line of an option, or the lines if the text does not fit into one. */
static void opthelp_print_line(void *arg, const struct block *b, const struct bn_opt *o)
{
  struct printing *p = arg;
  const char *def = bn_opt_get_default(o, b->policy), *form = opthelp_find_form(o, b->policy);
  const bool is_old_name = b->policy->help_has_old_names && o->alias_of != NULL;
  /* If the dialect has only the old name, its line has the text of the new one. */
  const char *help = is_old_name ? bn_optset_find(b->set, o->alias_of)->help : o->help;
  char letter[LETTER_SIZE];
  const size_t used = strlen("--") + strlen(o->name) + strlen(form) +
                      strlen(opthelp_format_letter(o, b->policy, letter));
  const size_t pad = p->width > used ? p->width - used : 0;

  if (def != NULL && bn_opt_is_secret(o))
    def = bn_opt_mask_text(o, def);
  (void)fputs("  --", p->out);
  /* The help of bench has dashes where a script declares underscores. */
  for (const char *c = o->name; *c != '\0'; c++)
    (void)fputc(b->policy->help_fits && *c == '_' ? '-' : *c, p->out);
  (void)fprintf(p->out, "%s%s%*s", form, letter, (int)pad, "");
  p->start = strlen("  ") + used + pad;
  if (b->policy->help_fits)
    opthelp_print_words(p, help, def);
  else if (def != NULL)
    (void)fprintf(p->out, "%s [%s]", help, def);
  else
    (void)fputs(help, p->out);
  (void)fputc('\n', p->out);
}

void bn_optset_print_help(const struct bn_optset *s, const char *const *groups, size_t n, FILE *out)
{
  enum { COLUMNS = 100 };
  const struct block b = {.set = s, .groups = groups, .n_groups = n, .policy = bn_optset_policy(s)};
  struct printing p = {.out = out, .columns = COLUMNS};

  opthelp_each_listed(&b, opthelp_measure, &p.width);
  opthelp_each_listed(&b, opthelp_print_line, &p);
}

/* --- the manual pages: opthelp_put_… print mdoc --- */

/* Prints the form of the value of an option in mdoc.  Capitals in the form are the name of an
   argument, and brackets enclose what may be left out. */
static void opthelp_put_argument(const struct bn_opt *o, const struct bn_policy *policy, FILE *out)
{
  const char *form = o->form == NULL && o->type == BN_LIST ? "=LIST" : opthelp_find_form(o, policy);

  if (o->type == BN_BOOL) {
    (void)fputs(" Ns Op = Ns Cm on | off", out);
    return;
  }
  /* " Ns" joins a part to the part before it, except for the first part in brackets. */
  const char *glue = " Ns";

  while (*form != '\0') {
    const size_t name_len = strspn(form, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

    if (name_len > 0)
      (void)fprintf(out, "%s Ar %.*s", glue, (int)name_len, form);
    else if (*form == '[')
      (void)fprintf(out, "%s Oo", glue);
    else if (*form == ']')
      (void)fputs(" Oc", out);
    else
      (void)fprintf(out, "%s %c", glue, *form);
    glue = *form == '[' ? "" : " Ns";
    form += name_len > 0 ? name_len : 1;
  }
}

/* Prints a word in which no character has a meaning for roff. */
static void opthelp_put_word(const char *word, size_t len, FILE *out)
{
  for (size_t i = 0; i < len; i++) {
    if (word[i] == '-')
      (void)fputs("\\-", out);
    else if (word[i] == '\\')
      (void)fputs("\\e", out);
    else
      (void)fputc(word[i], out);
  }
}

/* Prints a text, which does not begin with a blank, as a sentence: with a capital letter, a period,
   and in lines short enough for mandoc's lint. */
static void opthelp_put_sentence(const char *text, FILE *out)
{
  enum { WIDTH = 72 };
  size_t len = strcspn(text, " "), column = len;

  (void)fputc(toupper((unsigned char)*text), out);
  opthelp_put_word(text + 1, len - 1, out);
  for (text += len; *text != '\0'; text += len) {
    text += strspn(text, " ");
    len = strcspn(text, " ");
    const bool wrap = column + len > WIDTH;

    (void)fputc(wrap ? '\n' : ' ', out);
    /* A line that begins with a period or a quote is a request of roff. */
    if (wrap && (*text == '.' || *text == '\''))
      (void)fputs("\\&", out);
    opthelp_put_word(text, len, out);
    column = (wrap ? 0 : column) + len + 1;
  }
  (void)fputs(".\n", out);
}

/* Returns whether the help names every choice, so that the page need not repeat them. */
static bool opthelp_help_has_choices(const struct bn_opt *o)
{
  for (size_t i = 0; o->choices[i] != NULL; i++)
    if (strstr(o->help, o->choices[i]) == NULL)
      return false;
  return true;
}

/* Prints the choices, unless the help has them. */
static void opthelp_put_choices(const struct bn_opt *o, FILE *out)
{
  char choices[500], text[512];

  if (opthelp_help_has_choices(o))
    return;
  bn_optval_list_choices(o, choices, sizeof choices);
  (void)snprintf(text, sizeof text, "one of %s", choices);
  opthelp_put_sentence(text, out);
}

/* Prints the bounds of a number, without an upper bound that is only that of the type.  Nothing is
   printed for 0 and INT32_MAX, the usual bounds. */
static void opthelp_put_bounds(const struct bn_opt *o, FILE *out)
{
  const bool has_all_numbers = o->min == INT64_MIN && o->max == INT64_MAX;
  const bool is_bounded = o->max != 0 && !has_all_numbers;
  const bool is_usual = o->min == 0 && o->max == INT32_MAX;
  const bool has_max = o->max != INT64_MAX && o->max != INT32_MAX;

  if (!is_bounded || is_usual)
    return;
  if (has_max)
    (void)fprintf(out, "From %" PRId64 " to %" PRId64 ".\n", o->min, o->max);
  else
    (void)fprintf(out, "At least %" PRId64 ".\n", o->min);
}

/* Returns the word for a default in a sentence. */
static const char *opthelp_name_default(const char *def)
{
  return def[0] != '\0' ? def : "none";
}

/* Prints the default, and those of the dialects where they differ. */
static void opthelp_put_default(const struct bn_opt *o, const struct bn_policy *policy, FILE *out)
{
  const struct {
    const char *def, *dialect;
  } others[] = {{o->def10, "1.0"}, {o->def05, "0.5"}};
  const char *own_def = bn_opt_get_default(o, policy);
  const char *def = own_def != NULL ? own_def : "";

  (void)fprintf(out, "Default: %s", opthelp_name_default(def));
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    const char *other_def = others[i].def != NULL ? others[i].def : def;

    if (strcmp(other_def, BN_OPT_NO_DEFAULT) == 0)
      other_def = "";
    if (o->alias_of == NULL && strcmp(other_def, def) != 0)
      (void)fprintf(out, ", in dialect %s %s", others[i].dialect, opthelp_name_default(other_def));
  }
  /* The default "." (the working folder) is the period of the sentence, too. */
  (void)fputs(strcmp(def, ".") == 0 ? "\n" : ".\n", out);
}

/* Prints the list item of an option. */
static void opthelp_put_item(void *arg, const struct block *b, const struct bn_opt *o)
{
  FILE *out = arg;

  (void)fprintf(out, ".It Fl Fl %s", o->name);
  opthelp_put_argument(o, b->policy, out);
  if (o->letter != '\0')
    (void)fprintf(out, " , Fl %c Ar %s", o->letter, opthelp_find_form(o, b->policy) + 1);
  (void)fputc('\n', out);
  opthelp_put_sentence(o->help, out);
  if (o->alias_of != NULL)
    return;
  (void)fputs(".br\n", out);
  if (o->choices != NULL)
    opthelp_put_choices(o, out);
  else
    opthelp_put_bounds(o, out);
  opthelp_put_default(o, b->policy, out);
}

void bn_optset_print_man(const struct bn_optset *s, const char *const *groups, size_t n, FILE *out)
{
  const struct block b = {.set = s, .groups = groups, .n_groups = n, .policy = bn_optset_policy(s)};

  opthelp_each_listed(&b, opthelp_put_item, out);
}
