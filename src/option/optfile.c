/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration files: lines of name = value[, value …]. */
#include "option/opt.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mask.h"
#include "option/optval.h"

/* A larger file is no configuration file.  The message shows this number in MiB. */
enum { FILE_BYTES_MAX = 1 << 20 };

static const char blanks[] = " \t\r\n\v\f";

/* A file that is being read. */
struct reader {
  struct bn_optset *set;
  const char *path; /* as messages show it */
  unsigned line;
};

/* Returns the part of a line before '=' without the blanks around it and without leading dashes.
   The blanks at its end are overwritten. */
static char *optfile_trim_name(char *name)
{
  size_t len;

  name += strspn(name, blanks);
  if (strncmp(name, "--", 2) == 0)
    name += 2;
  len = strlen(name);
  while (len > 0 && isspace((unsigned char)name[len - 1]))
    name[--len] = '\0';
  return name;
}

/* Returns whether the file is read as sysbench reads it. */
static bool optfile_is_loose(const struct reader *r)
{
  return bn_optset_policy(r->set)->loose_files;
}

bool bn_optset_is_comment(const char *name)
{
  name += strspn(name, blanks);
  return name[0] == '\0' || name[0] == '#';
}

/* Returns whether all quotes in the value are closed. */
static bool optfile_has_closed_quotes(const char *value)
{
  struct bn_optval_item item;
  int rc;

  while ((rc = bn_optval_next(&value, &item)) > 0)
    continue;
  return rc == 0;
}

/* Refuses a setting whose quote is not closed.  Returns -1 and err, or in a dialect 1, because
   sysbench sets the option to nothing and skips the rest of the file. */
static int optfile_refuse_unclosed(const struct reader *r, const char *name, struct bn_err *err)
{
  char masked[BN_MASK_MAX];

  if (!optfile_is_loose(r))
    return bn_err_set(err, 0, "%s:%u: the quote in the value of '%s' is not closed", r->path,
                      r->line, bn_mask_arg(name, masked));
  bn_optset_set_from_file(r->set, name, "", r->path, r->line);
  bn_log_stderr("unexpected EOL on line %u", r->line);
  return 1;
}

/* Notes that a line such as "threads 4" sets nothing, unless it is a section or a comment.  Only
   the name is shown, because the text after it may be a secret. */
static void optfile_note_ignored_line(const struct reader *r, char *text)
{
  char *name = optfile_trim_name(text), masked[BN_MASK_MAX];

  if (r->set->sent || bn_optset_is_comment(name) || name[0] == '[')
    return;
  name[strcspn(name, " \t:")] = '\0';
  bn_log_note("%s:%u: '%s' is ignored: there is no '=' in its line", r->path, r->line,
              bn_mask_arg(name, masked));
}

/* Returns whether the item is "--events=3", or "events=3" with the name of an option. */
static bool optfile_is_option(const struct reader *r, const char *item, size_t len)
{
  const size_t name_len = strcspn(item, "=");
  char name[BN_OPT_NAME_MAX];

  if (len > 2 && strncmp(item, "--", 2) == 0)
    return isalpha((unsigned char)item[2]);
  (void)snprintf(name, sizeof name, "%.*s", (int)name_len, item);
  return name_len < len && bn_optset_find_entry(r->set, name) != NULL;
}

/* Finds an option in the value of another option, after a blank and without quotes.  Returns
   whether there is one, and sets *item to it. */
static bool optfile_find_second_option(const struct reader *r, const char *value,
                                       struct bn_optval_item *item)
{
  const char *pos = value;

  while (bn_optval_next(&pos, item) > 0) {
    /* The character before an item in quotes is the quote. */
    const bool is_after_blank = item->text > value && strchr(blanks, item->text[-1]) != NULL;

    if (is_after_blank && optfile_is_option(r, item->text, item->len))
      return true;
  }
  return false;
}

/* Refuses a line with a second option, which was copied from a command line.  A dialect refuses
   nothing, because sysbench does not.  A value whose own option is unknown is not refused either:
   it may be a command line, as in a file of sweeps.  Returns 0, or -1 and err. */
static int optfile_refuse_second_option(const struct reader *r, const char *name, const char *value,
                                        struct bn_err *err)
{
  struct bn_optval_item item;
  char second[BN_MASK_MAX], masked[BN_MASK_MAX];

  if (optfile_is_loose(r) || bn_optset_find_entry(r->set, name) == NULL)
    return 0;
  if (!optfile_find_second_option(r, value, &item))
    return 0;
  (void)snprintf(second, sizeof second, "%.*s", (int)strcspn(item.text, "= \t\r\n\v\f"), item.text);
  return bn_err_set(err, 0,
                    "%s:%u: '%s' stands after '%s': write each option on a line of its own, or "
                    "the value in quotes",
                    r->path, r->line, second, bn_mask_arg(name, masked));
}

/* Sets an option by the two sides of a line's '=', unless the line is refused.  Returns as
   optfile_read_line does. */
static int optfile_set_option(const struct reader *r, const char *name, const char *value,
                              struct bn_err *err)
{
  if ((bn_optset_get_traits(r->set, name) & BN_OPT_COMMAND_LINE_ONLY) != 0)
    return bn_err_set(err, 0, "%s:%u: '%s' can only be given on the command line", r->path, r->line,
                      name);
  if (!optfile_has_closed_quotes(value))
    return optfile_refuse_unclosed(r, name, err);
  if (optfile_refuse_second_option(r, name, value, err) != 0)
    return -1;
  bn_optset_set_from_file(r->set, name, value, r->path, r->line);
  return 0;
}

/* Reads the line text[0..len), which ends with a null byte, and changes it.  Returns 0, 1 if the
   rest of the file is to be skipped, or -1 and err. */
static int optfile_read_line(const struct reader *r, char *text, size_t len, struct bn_err *err)
{
  char *value, *name;

  if (strlen(text) != len) /* the line has another null byte */
    return bn_err_set(err, 0, "%s:%u: not a text file", r->path, r->line);
  value = strchr(text, '=');
  if (value == NULL) {
    optfile_note_ignored_line(r, text);
    return 0;
  }
  *value++ = '\0';
  value[strcspn(value, "\r\n")] = '\0';
  /* To sysbench, all before '=' is the name, with blanks and dashes; '#' begins no comment. */
  name = optfile_is_loose(r) ? text : optfile_trim_name(text);
  if (!bn_optset_is_comment(name))
    return optfile_set_option(r, name, value, err);
  if (optfile_is_loose(r)) /* the comment sets an option that does not exist */
    bn_optset_set_from_file(r->set, name, "", r->path, r->line);
  return 0;
}

/* Reads the lines of a file.  Returns as optfile_read_line does. */
static int optfile_read_lines(struct reader *r, struct bn_buf *b, struct bn_err *err)
{
  char *line = b->data, *const end = b->data + b->len;
  int rc = 0;

  while (rc == 0 && line < end) {
    char *const newline = memchr(line, '\n', (size_t)(end - line));
    char *const next = newline != NULL ? newline + 1 : end; /* *end is the buffer's null byte */
    const char first_of_next = *next;

    *next = '\0'; /* the end of this line, while it is read */
    r->line++;
    rc = optfile_read_line(r, line, (size_t)(next - line), err);
    *next = first_of_next;
    line = next;
  }
  return rc;
}

/* Returns NAME, which messages show, for a file that was sent as FOLDER/N-NAME. */
static const char *optfile_find_sent_name(const char *path)
{
  const char *base = bn_file_name(path), *dash = strchr(base, '-');

  return dash != NULL ? dash + 1 : base;
}

int bn_optset_read_file(struct bn_optset *s, const char *path, struct bn_err *err)
{
  struct reader r = {.set = s, .path = s->sent ? optfile_find_sent_name(path) : path};
  struct bn_buf b = {.max = FILE_BYTES_MAX};
  char masked[BN_MASK_MAX];
  const char *shown = bn_mask_text(r.path, masked);
  int rc;

  if (bn_file_read(path, &b) == 0)
    rc = optfile_read_lines(&r, &b, err);
  else if (errno == EFBIG)
    rc = bn_err_set(err, errno, "%s: the file is larger than %d MiB", shown, FILE_BYTES_MAX >> 20);
  else
    rc = bn_err_set(err, errno, "%s: %s", shown, strerror(errno));
  bn_buf_done(&b);
  return rc < 0 ? -1 : 0; /* 1: the rest of the file was skipped, which is no failure */
}
