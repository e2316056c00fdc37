/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the option file of --mysql-defaults-file as MySQL's clients do.  The client library could
   read it, but only while it connects, too late to name the host in a failure. */
#include "drivers/mysql/defaults.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/secret.h"

/* The settings with one value, and the members of struct bn_mysql_defaults that they set. */
static const struct {
  const char *name;
  size_t offset;
} keys[] = {
    {"user", offsetof(struct bn_mysql_defaults, user)},
    {"password", offsetof(struct bn_mysql_defaults, password)},
    {"host", offsetof(struct bn_mysql_defaults, host)},
    {"port", offsetof(struct bn_mysql_defaults, port)},
    {"socket", offsetof(struct bn_mysql_defaults, socket)},
    {"ssl-mode", offsetof(struct bn_mysql_defaults, ssl_mode)},
    {"ssl-ca", offsetof(struct bn_mysql_defaults, ssl_ca)},
    {"ssl-cert", offsetof(struct bn_mysql_defaults, ssl_cert)},
    {"ssl-key", offsetof(struct bn_mysql_defaults, ssl_key)},
    {"ssl-cipher", offsetof(struct bn_mysql_defaults, ssl_cipher)},
};
enum { KEYS = sizeof keys / sizeof keys[0] };

/* Returns the member of d that keys[i] sets. */
static char **defaults_get_member(struct bn_mysql_defaults *d, size_t i)
{
  return (char **)((char *)d + keys[i].offset);
}

/* Cuts the blanks at the end of s.  Returns its first character that is no blank. */
static char *defaults_trim(char *s)
{
  size_t len;

  while (isspace((unsigned char)*s))
    s++;
  len = strlen(s);
  while (len > 0 && isspace((unsigned char)s[len - 1]))
    s[--len] = '\0';
  return s;
}

/* Removes, in place, quotes around a value, and replaces backslash escapes, with and without
   quotes, as MySQL's clients do.  A backslash that begins no escape stays. */
static void defaults_unquote(char *s)
{
  /* A backslash and letters[i] mean meaning[i]; "\\s" is a blank. */
  static const char letters[] = "btnrs\\\"'", meaning[] = "\b\t\n\r \\\"'";
  size_t len = strlen(s);
  char *out = s;

  if (len >= 2 && (s[0] == '"' || s[0] == '\'') && s[len - 1] == s[0]) {
    s[--len] = '\0';
    s++;
  }
  for (; *s != '\0'; s++) {
    const char *escaped = s[0] == '\\' && s[1] != '\0' ? strchr(letters, s[1]) : NULL;

    if (escaped != NULL) {
      *out++ = meaning[escaped - letters];
      s++;
    } else {
      *out++ = *s;
    }
  }
  *out = '\0';
}

/* Cuts the comment of a line, which begins with a '#' outside of quotes.  Within quotes, a
   quotation mark after a backslash is a character as any other. */
static void defaults_uncomment(char *s)
{
  char open = '\0';     /* the quotation mark of the open quotes */
  bool escaped = false; /* a backslash takes the special meaning from *s */

  for (; *s != '\0' && (*s != '#' || open != '\0'); s++) {
    const bool is_mark = (*s == '"' || *s == '\'') && !escaped;

    if (is_mark && open == '\0')
      open = *s;
    else if (is_mark && open == *s)
      open = '\0';
    escaped = open != '\0' && *s == '\\' && !escaped;
  }
  *s = '\0';
}

/* Adds a command that is sent on each connection. */
static void defaults_add_command(struct bn_mysql_defaults *d, const char *value)
{
  d->init_command =
      d->driver_host->resize(d->init_command, d->n_init_commands + 1, sizeof *d->init_command);
  d->init_command[d->n_init_commands++] = d->driver_host->text(value);
}

/* Returns the name of a setting as `keys` spells it: files may write '_' for '-', and put "loose-"
   before a name that not all clients know. */
static const char *defaults_parse_name(char *text)
{
  static const char loose[] = "loose-";
  const char *name = defaults_trim(text);

  for (char *p = text; *p != '\0'; p++)
    if (*p == '_')
      *p = '-';
  return strncmp(name, loose, sizeof loose - 1) == 0 ? name + sizeof loose - 1 : name;
}

/* Stores the setting of a line in d, and passes over settings that no connection needs and lines
   without a value.  A value replaces an earlier value, but commands are all kept. */
static void defaults_store_line(char *line, struct bn_mysql_defaults *d)
{
  char *value = strchr(line, '=');
  const char *name;

  if (value == NULL)
    return;
  *value++ = '\0';
  name = defaults_parse_name(line);
  value = defaults_trim(value);
  defaults_unquote(value);
  if (strcmp(name, "init-command") == 0 && value[0] != '\0')
    defaults_add_command(d, value);
  for (size_t i = 0; i < KEYS; i++)
    if (strcmp(keys[i].name, name) == 0) {
      bn_secret_free(*defaults_get_member(d, i));
      *defaults_get_member(d, i) = d->driver_host->text(value);
    }
}

/* Returns whether the settings of a group are read.  group: its line, such as "[client]". */
static bool defaults_is_read_group(const char *group)
{
  static const char *const groups[] = {"[client]", "[client-server]", "[client-mariadb]",
                                       "[bench]"};

  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    if (strcmp(group, groups[i]) == 0)
      return true;
  return false;
}

/* The greatest depth to which files include one another, and the most lines of a file: a file with
   more is a device, or of another kind. */
enum { DEPTH_MAX = 10, LINES_MAX = 1 << 16 };

static int defaults_read_file(struct bn_mysql_defaults *d, const char *path, int depth,
                              struct bn_err *err);

/* Selects the names that end in ".cnf", for scandir. */
static int defaults_ends_in_cnf(const struct dirent *e)
{
  static const char ending[] = ".cnf";
  const size_t len = strlen(e->d_name), ending_len = sizeof ending - 1;

  return len > ending_len && strcmp(e->d_name + len - ending_len, ending) == 0;
}

/* Reads the option files of a folder in the order of their names, up to the first that fails.
   Returns 0, or -1 and err. */
static int defaults_include_folder(struct bn_mysql_defaults *d, const char *folder, int depth,
                                   struct bn_err *err)
{
  struct dirent **entry = NULL;
  const int n = scandir(folder, &entry, defaults_ends_in_cnf, alphasort);
  int rc = 0;

  if (n < 0)
    return bn_err_set(err, errno, "cannot read the folder '%s': %s", folder, strerror(errno));
  for (int i = 0; i < n; i++) {
    char *path = d->driver_host->print("%s/%s", folder, entry[i]->d_name);

    if (rc == 0)
      rc = defaults_read_file(d, path, depth, err);
    free(path);
    free(entry[i]);
  }
  free(entry);
  return rc;
}

/* Reads the files of "!include FILE" or "!includedir FOLDER", which may stand in any group; another
   directive has no effect.  Returns 0, or -1 and err. */
static int defaults_follow_directive(struct bn_mysql_defaults *d, char *line, int depth,
                                     struct bn_err *err)
{
  static const char include_folder[] = "!includedir";
  const bool is_folder = strncmp(line, include_folder, sizeof include_folder - 1) == 0;
  const char *directive = is_folder ? include_folder : "!include";
  const size_t len = strlen(directive);
  char *path;

  if (strncmp(line, directive, len) != 0 || !isspace((unsigned char)line[len]))
    return 0;
  path = defaults_trim(line + len);
  if (depth >= DEPTH_MAX)
    return bn_err_set(err, 0, "cannot include '%s': %d files include one another", path, DEPTH_MAX);
  if (is_folder)
    return defaults_include_folder(d, path, depth + 1, err);
  return defaults_read_file(d, path, depth + 1, err);
}

/* Returns the text after the byte order mark with which some editors begin a file. */
static char *defaults_skip_mark(char *text)
{
  static const char mark[] = "\xef\xbb\xbf";

  return strncmp(text, mark, sizeof mark - 1) == 0 ? text + sizeof mark - 1 : text;
}

/* Stores the setting of a line, or those of the files that it includes.  *in_group says whether the
   present group is one that is read; the line of another group changes it.  Returns 0, or -1 and
   err. */
static int defaults_read_line(char *line, struct bn_mysql_defaults *d, bool *in_group, int depth,
                              struct bn_err *err)
{
  char *text = defaults_trim(line);

  if (*text == ';') /* a comment, in which quotes mean nothing */
    return 0;
  defaults_uncomment(text);
  text = defaults_trim(text);
  if (*text == '!')
    return defaults_follow_directive(d, text, depth, err);
  if (*text == '[')
    *in_group = defaults_is_read_group(text);
  else if (*in_group)
    defaults_store_line(text, d);
  return 0;
}

/* Reads the lines of f, whose name is path, in their order.  A line that does not fit is read as
   several.  Returns 0, or -1 and err. */
static int defaults_read_lines(FILE *f, struct bn_mysql_defaults *d, const char *path, int depth,
                               struct bn_err *err)
{
  char line[BN_SECRET_MAX];
  bool in_group = false;
  int rc = 0;

  for (int lines_before = 0; rc == 0 && fgets(line, sizeof line, f) != NULL; lines_before++) {
    char *text = lines_before == 0 ? defaults_skip_mark(line) : line;

    if (lines_before == LINES_MAX)
      rc = bn_err_set(err, EFBIG, "the option file '%s' has more than %d lines", path, LINES_MAX);
    else
      rc = defaults_read_line(text, d, &in_group, depth, err);
  }
  if (rc == 0 && ferror(f))
    rc = bn_err_set(err, errno, "cannot read the option file '%s': %s", path, strerror(errno));
  explicit_bzero(line, sizeof line);
  return rc;
}

/* Reads a file.  depth: how many files, each included by the one before it, lead to this one.
   Returns 0, or -1 and err. */
static int defaults_read_file(struct bn_mysql_defaults *d, const char *path, int depth,
                              struct bn_err *err)
{
  FILE *f = fopen(path, "re");
  char buffer[BN_SECRET_MAX];
  int rc;

  if (f == NULL)
    return bn_err_set(err, errno, "cannot open the option file '%s': %s", path, strerror(errno));
  /* The C library must not allocate the buffer: it would free it with the passwords in it. */
  (void)setvbuf(f, buffer, _IOFBF, sizeof buffer);
  rc = defaults_read_lines(f, d, path, depth, err);
  (void)fclose(f);
  explicit_bzero(buffer, sizeof buffer);
  return rc;
}

int bn_mysql_defaults_read(struct bn_mysql_defaults *d, const struct bn_driver_host *host,
                           const char *path, struct bn_err *err)
{
  char full[BN_SECRET_MAX];

  d->driver_host = host;
  if (bn_secret_expand_home(path, full, err) != 0)
    return -1;
  return defaults_read_file(d, full, 0, err);
}

void bn_mysql_defaults_free(struct bn_mysql_defaults *d)
{
  for (size_t i = 0; i < KEYS; i++) {
    bn_secret_free(*defaults_get_member(d, i));
    *defaults_get_member(d, i) = NULL;
  }
  for (size_t i = 0; i < d->n_init_commands; i++)
    bn_secret_free(d->init_command[i]);
  free(d->init_command);
  d->init_command = NULL;
  d->n_init_commands = 0;
}
