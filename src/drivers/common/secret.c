/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passwords from files and from the terminal. */
#include "drivers/common/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

int bn_secret_path(const char *path, char out[BN_SECRET_MAX], struct bn_err *err)
{
  const char *home = "";
  int n;

  if (strncmp(path, "~/", 2) == 0) {
    home = getenv("HOME");
    if (home == NULL)
      return bn_err_set(err, 0, "cannot open '%s': HOME is not set", path);
    path++;
  }
  n = snprintf(out, BN_SECRET_MAX, "%s%s", home, path);
  if (n < 0 || n >= BN_SECRET_MAX)
    return bn_err_set(err, ENAMETOOLONG, "cannot open '%s': %s", path, strerror(ENAMETOOLONG));
  return 0;
}

/* Reads a line without its end.  Returns 0, or -1 and errno, which is 0 at the end of the file. */
static int secret_read_line(FILE *f, char out[BN_SECRET_MAX])
{
  size_t len;

  errno = 0;
  if (fgets(out, BN_SECRET_MAX, f) == NULL)
    return -1;
  len = strlen(out);
  if (len == BN_SECRET_MAX - 1 && out[len - 1] != '\n') {
    errno = EMSGSIZE;
    return -1;
  }
  while (len > 0 && (out[len - 1] == '\n' || out[len - 1] == '\r'))
    out[--len] = '\0';
  return 0;
}

int bn_secret_file(const char *path, char out[BN_SECRET_MAX], struct bn_err *err)
{
  char full[BN_SECRET_MAX];
  FILE *f;
  int rc = 0;

  if (bn_secret_path(path, full, err) != 0)
    return -1;
  f = fopen(full, "re");
  if (f == NULL)
    return bn_err_set(err, errno, "cannot open the password file '%s': %s", path, strerror(errno));
  /* A buffer would keep a copy of the secret after it is freed. */
  (void)setvbuf(f, NULL, _IONBF, 0);
  if (secret_read_line(f, out) != 0)
    rc = bn_err_set(err, errno, "cannot read a password from '%s': %s", path,
                    errno != 0 ? strerror(errno) : "the file is empty");
  (void)fclose(f);
  return rc;
}

/* Echo is off while the answer is typed. */
static int secret_ask(FILE *tty, const char *question, char out[BN_SECRET_MAX])
{
  struct termios saved, quiet;
  int rc;

  if (tcgetattr(fileno(tty), &saved) != 0)
    return -1;
  quiet = saved;
  quiet.c_lflag &= ~(tcflag_t)ECHO;
  quiet.c_lflag |= ECHONL;
  if (tcsetattr(fileno(tty), TCSAFLUSH, &quiet) != 0)
    return -1;
  (void)fprintf(tty, "%s: ", question);
  (void)fflush(tty);
  rc = secret_read_line(tty, out);
  (void)tcsetattr(fileno(tty), TCSAFLUSH, &saved);
  return rc;
}

int bn_secret_prompt(const char *question, char out[BN_SECRET_MAX], struct bn_err *err)
{
  FILE *tty = fopen("/dev/tty", "r+e");
  int rc = 0;

  if (tty == NULL)
    return bn_err_set(err, errno, "cannot ask for the password: no terminal");
  (void)setvbuf(tty, NULL, _IONBF, 0);
  if (secret_ask(tty, question, out) != 0)
    rc = bn_err_set(err, errno, "cannot read the password from the terminal: %s",
                    errno != 0 ? strerror(errno) : "end of input");
  (void)fclose(tty);
  return rc;
}

void bn_secret_free(char *secret)
{
  if (secret != NULL)
    explicit_bzero(secret, strlen(secret));
  free(secret);
}
