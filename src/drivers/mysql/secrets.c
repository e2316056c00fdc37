/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User and password: from options, a file of their own, the terminal, an option file of MySQL's
   clients, or the environment; the first that has one wins. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/secret.h"
#include "drivers/mysql/driver.h"

static char *trim(char *s)
{
  size_t len;

  while (isspace((unsigned char)*s))
    s++;
  len = strlen(s);
  while (len > 0 && isspace((unsigned char)s[len - 1]))
    s[--len] = '\0';
  return s;
}

/* Quotes around a value go; within it a backslash means what it means to MySQL's clients. */
static void unquote(char *s)
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

/* A later value of the file beats an earlier one. */
static int keep(char **slot, const char *value)
{
  char *copy = strdup(value);

  if (copy == NULL)
    return -1;
  bn_secret_free(*slot);
  *slot = copy;
  return 0;
}

/* One line within a group that concerns us. */
static int take_line(char *line, char **user, char **password)
{
  char *value = strchr(line, '=');
  const char *name;

  if (value == NULL)
    return 0;
  *value++ = '\0';
  name = trim(line);
  value = trim(value);
  unquote(value);
  if (strcmp(name, "user") == 0)
    return keep(user, value);
  return strcmp(name, "password") == 0 ? keep(password, value) : 0;
}

static int read_options(FILE *f, char **user, char **password)
{
  char line[BN_SECRET_MAX];
  bool ours = false;
  int rc = 0;

  while (rc == 0 && fgets(line, sizeof line, f) != NULL) {
    char *s = trim(line);

    if (*s == '[')
      ours = strcmp(s, "[client]") == 0 || strcmp(s, "[bench]") == 0;
    else if (ours && *s != '#' && *s != ';')
      rc = take_line(s, user, password);
  }
  explicit_bzero(line, sizeof line);
  return rc;
}

static int read_defaults(const char *path, char **user, char **password, struct bn_err *err)
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
  rc = read_options(f, user, password);
  (void)fclose(f);
  return rc == 0 ? 0 : bn_err_set(err, ENOMEM, "cannot read '%s': out of memory", path);
}

/* 1: there is one; 0: none; -1: failed. */
static int ask_password(const struct bn_mysql_conf *conf, char out[BN_SECRET_MAX],
                        struct bn_err *err)
{
  if (conf->password_prompt)
    return bn_secret_prompt("MySQL password", out, err) == 0 ? 1 : -1;
  if (conf->password_file != NULL)
    return bn_secret_file(conf->password_file, out, err) == 0 ? 1 : -1;
  return 0;
}

int bn_mysql_secrets_find(struct bn_mysql *driver, struct bn_err *err)
{
  const struct bn_mysql_conf *conf = driver->conf;
  const char *const default_user = "sbtest", *env = getenv("MYSQL_PWD");
  char *user = NULL, *password = NULL;
  char asked[BN_SECRET_MAX];
  int rc = 0, given = 0;

  if (conf->password == NULL || conf->password[0] == '\0')
    given = ask_password(conf, asked, err);
  if (given >= 0 && conf->defaults_file != NULL)
    rc = read_defaults(conf->defaults_file, &user, &password, err);
  if (given < 0 || rc != 0)
    goto out;
  /* A user of the option file only replaces the default. */
  if (conf->user != NULL && (user == NULL || strcmp(conf->user, default_user) != 0))
    rc = keep(&user, conf->user);
  /* An empty one is what was asked for only if nothing else was. */
  if (rc == 0 && given > 0)
    rc = keep(&password, asked);
  else if (rc == 0 && conf->password != NULL)
    rc = keep(&password, conf->password);
  else if (rc == 0 && password == NULL && env != NULL)
    rc = keep(&password, env);
  if (rc != 0)
    (void)bn_err_set(err, ENOMEM, "cannot start the MySQL driver: out of memory");
out:
  explicit_bzero(asked, sizeof asked);
  if (given < 0 || rc != 0) {
    bn_secret_free(user);
    bn_secret_free(password);
    return -1;
  }
  driver->user = user;
  driver->password = password;
  return 0;
}
