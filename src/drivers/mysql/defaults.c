/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the option file of --mysql-defaults-file as MySQL's clients do.  The client library could
   read it, but only while it connects, too late to name the host in a failure. */
#include "drivers/mysql/defaults.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/secret.h"

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

static char **slot_of(struct bn_mysql_defaults *d, size_t i)
{
  return (char **)((char *)d + keys[i].offset);
}

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

/* Removes quotes around a value, and replaces backslash escapes as MySQL's clients do. */
static void defaults_unquote(char *s)
{
  static const char escape[] = "btnrs\\\"'", meaning[] = "\b\t\n\r \\\"'";
  size_t len = strlen(s);
  char *out = s;

  if (len >= 2 && (s[0] == '"' || s[0] == '\'') && s[len - 1] == s[0]) {
    s[--len] = '\0';
    s++;
  }
  for (; *s != '\0'; s++) {
    const char *known = s[0] == '\\' && s[1] != '\0' ? strchr(escape, s[1]) : NULL;

    *out++ = known != NULL ? meaning[known - escape] : *s;
    s += known != NULL;
  }
  *out = '\0';
}

/* Replaces an earlier value of the file. */
static int defaults_keep(char **slot, const char *value)
{
  char *copy = strdup(value);

  if (copy == NULL)
    return -1;
  bn_secret_free(*slot);
  *slot = copy;
  return 0;
}

/* Option names may have '_' for '-'. */
static int take_line(char *line, struct bn_mysql_defaults *d)
{
  char *value = strchr(line, '=');
  const char *name;

  if (value == NULL)
    return 0;
  *value++ = '\0';
  for (char *p = line; *p != '\0'; p++)
    if (*p == '_')
      *p = '-';
  name = defaults_trim(line);
  value = defaults_trim(value);
  defaults_unquote(value);
  for (size_t i = 0; i < KEYS; i++)
    if (strcmp(keys[i].name, name) == 0)
      return defaults_keep(slot_of(d, i), value);
  return 0;
}

static bool is_read_group(const char *group)
{
  return strcmp(group, "[client]") == 0 || strcmp(group, "[client-mariadb]") == 0 ||
         strcmp(group, "[bench]") == 0;
}

static int read_lines(FILE *f, struct bn_mysql_defaults *d)
{
  char line[BN_SECRET_MAX];
  bool reads = false;
  int rc = 0;

  while (rc == 0 && fgets(line, sizeof line, f) != NULL) {
    char *s = defaults_trim(line);

    if (*s == '[')
      reads = is_read_group(s);
    else if (reads && *s != '#' && *s != ';')
      rc = take_line(s, d);
  }
  explicit_bzero(line, sizeof line);
  return rc;
}

int bn_mysql_defaults_read(struct bn_mysql_defaults *d, const char *path, struct bn_err *err)
{
  char full[BN_SECRET_MAX];
  FILE *f;
  int rc;

  if (bn_secret_path(path, full, err) != 0)
    return -1;
  f = fopen(full, "re");
  if (f == NULL)
    return bn_err_set(err, errno, "cannot open the option file '%s': %s", path, strerror(errno));
  (void)setvbuf(f, NULL, _IONBF, 0);
  rc = read_lines(f, d);
  (void)fclose(f);
  return rc == 0 ? 0 : bn_err_set(err, ENOMEM, "cannot read '%s': out of memory", path);
}

void bn_mysql_defaults_free(struct bn_mysql_defaults *d)
{
  for (size_t i = 0; i < KEYS; i++) {
    bn_secret_free(*slot_of(d, i));
    *slot_of(d, i) = NULL;
  }
}
