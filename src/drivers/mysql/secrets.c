/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User and password: from options, a password file, the terminal, an option file of MySQL's
   clients, or the environment; the first source that has one wins. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/secret.h"
#include "drivers/mysql/driver.h"

/* Returns 1 if there is a password, 0 if not, -1 after a failure. */
static int ask_password(const struct bn_mysql_conf *conf, char out[BN_SECRET_MAX],
                        struct bn_err *err)
{
  if (conf->password_prompt)
    return bn_secret_prompt("MySQL password", out, err) == 0 ? 1 : -1;
  if (conf->password_file != NULL)
    return bn_secret_file(conf->password_file, out, err) == 0 ? 1 : -1;
  return 0;
}

/* The option file's user only replaces a user that was not given. */
static const char *choose_user(const struct bn_mysql *driver)
{
  const char *filed = driver->file.user;

  return filed != NULL && !driver->conf->user_given ? filed : driver->conf->user;
}

int bn_mysql_secrets_find(struct bn_mysql *driver, struct bn_err *err)
{
  const struct bn_mysql_conf *conf = driver->conf;
  char asked[BN_SECRET_MAX];
  const char *found;
  int given = 0;

  if (conf->password == NULL || conf->password[0] == '\0')
    given = ask_password(conf, asked, err);
  /* An empty password is used only if there is no prompt and no file. */
  found = given > 0                       ? asked
          : conf->password != NULL        ? conf->password
          : driver->file.password != NULL ? driver->file.password
                                          : getenv("MYSQL_PWD");
  if (given >= 0 && found != NULL && (driver->password = strdup(found)) == NULL)
    given = bn_err_set(err, ENOMEM, "cannot start the MySQL driver: out of memory");
  explicit_bzero(asked, sizeof asked);
  driver->user = choose_user(driver);
  return given >= 0 ? 0 : -1;
}
