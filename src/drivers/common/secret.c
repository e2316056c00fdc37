/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passwords from files and from the terminal. */
#include "drivers/common/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

int bn_secret_expand_home(const char *path, char out[BN_SECRET_MAX], struct bn_err *err)
{
  const char *home = "", *tail = path;
  int n;

  if (strncmp(path, "~/", 2) == 0) {
    home = getenv("HOME");
    if (home == NULL)
      return bn_err_set(err, ENOENT, "cannot expand '%s': HOME is not set", path);
    tail = path + 1;
  }
  n = snprintf(out, BN_SECRET_MAX, "%s%s", home, tail);
  if (n < 0 || n >= BN_SECRET_MAX)
    return bn_err_set(err, ENAMETOOLONG, "the path '%s' is too long", path);
  return 0;
}

/* Returns why a password could not be read.  error: an errno, or 0 if there was nothing to read,
   which `if_empty` says. */
static const char *secret_reason(int error, const char *if_empty)
{
  switch (error) {
  case 0:
    return if_empty;
  case EMSGSIZE:
    return "it is longer than 4095 bytes";
  default:
    return strerror(error);
  }
}

_Static_assert(BN_SECRET_MAX == 4096, "secret_reason names the limit");

/* Sets errno to the error; 0 means that there was nothing to read.  Returns -1. */
static int secret_fail(int error)
{
  errno = error;
  return -1;
}

/* Returns whether nothing but the end of its line follows at the position of the file. */
static bool secret_is_at_line_end(FILE *f)
{
  int c = getc(f);

  if (c == '\r')
    c = getc(f);
  return c == '\n' || feof(f) != 0;
}

/* Reads a line without its end.  Returns 0, or -1 and errno: 0 if the file is empty, EMSGSIZE if
   the line is too long. */
static int secret_read_line(FILE *f, char out[BN_SECRET_MAX])
{
  bool may_be_cut;
  size_t len;

  errno = 0;
  if (fgets(out, BN_SECRET_MAX, f) == NULL)
    return -1;
  len = strlen(out);
  may_be_cut = len == BN_SECRET_MAX - 1 && out[len - 1] != '\n';
  if (may_be_cut && !secret_is_at_line_end(f))
    return secret_fail(ferror(f) ? errno : EMSGSIZE);
  while (len > 0 && (out[len - 1] == '\n' || out[len - 1] == '\r'))
    out[--len] = '\0';
  return 0;
}

int bn_secret_read_file(const char *path, char out[BN_SECRET_MAX], struct bn_err *err)
{
  char full[BN_SECRET_MAX];
  FILE *f;
  int rc = 0;

  if (bn_secret_expand_home(path, full, err) != 0)
    return -1;
  f = fopen(full, "re");
  if (f == NULL)
    return bn_err_set(err, errno, "cannot open the password file '%s': %s", path, strerror(errno));
  /* A buffer would keep a copy of the secret after it is freed. */
  (void)setvbuf(f, NULL, _IONBF, 0);
  if (secret_read_line(f, out) != 0)
    rc = bn_err_set(err, errno, "cannot read a password from '%s': %s", path,
                    secret_reason(errno, "the file is empty"));
  (void)fclose(f);
  return rc;
}

/* Returns whether the character is that of a special key, such as VERASE, whose index in c_cc is
   given.  A terminal may have disabled the key. */
static bool secret_is_key(const struct termios *t, int index, char c)
{
  return t->c_cc[index] != _POSIX_VDISABLE && (char)t->c_cc[index] == c;
}

/* Returns the signal that a key of the terminal sends, or 0.  Such keys are read as characters: the
   threads of the program block these signals, and the one that receives them does not know of the
   question. */
static int secret_signal_of_key(const struct termios *t, char c)
{
  static const struct {
    int index, signo;
  } keys[] = {{VINTR, SIGINT}, {VQUIT, SIGQUIT}, {VSUSP, SIGTSTP}};

  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (secret_is_key(t, keys[i].index, c))
      return keys[i].signo;
  return 0;
}

/* Returns the length without the last character.  In UTF-8 a character may have several bytes, of
   which all but the first begin with the bits 10. */
static size_t secret_length_without_last(const char *text, size_t len)
{
  while (len > 1 && ((unsigned char)text[len - 1] & 0xC0) == 0x80)
    len--;
  return len > 0 ? len - 1 : 0;
}

/* Blocks the signals that would end or stop the program while the terminal has no echo.  *before
   gets the signals that were blocked already. */
static void secret_block_signals(sigset_t *before)
{
  static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP};
  sigset_t set;

  (void)sigemptyset(&set);
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction now;

    /* The kernel keeps an ignored signal that is blocked. */
    if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
      (void)sigaddset(&set, signals[i]);
  }
  (void)pthread_sigmask(SIG_BLOCK, &set, before);
}

/* Waits for a key.  Returns 0, SIGTSTP if the program is to stop, or -1 with errno EINTR if it is
   to end.  The thread that receives the signals of a run sets `interrupted`; if it is NULL, there
   is no such thread, and a signal stays pending until the terminal has its echo back. */
static int secret_await_key(int tty, const _Atomic bool *interrupted)
{
  enum { POLL_MS = 50 }; /* the time between two looks at the signals */
  struct pollfd p = {.fd = tty, .events = POLLIN};
  sigset_t pending;

  while (poll(&p, 1, POLL_MS) <= 0) {
    (void)sigpending(&pending);
    if (sigismember(&pending, SIGTSTP) > 0)
      return SIGTSTP;
    if (sigisemptyset(&pending) == 0 || (interrupted != NULL && *interrupted))
      return secret_fail(EINTR);
  }
  return 0;
}

/* Applies a key to the len bytes that were typed before: the key erases, or is a character of the
   password.  Returns the new length, which is BN_SECRET_MAX if the password is too long. */
static size_t secret_apply_key(const struct termios *keys, char c, char out[BN_SECRET_MAX],
                               size_t len)
{
  if (secret_is_key(keys, VERASE, c))
    return secret_length_without_last(out, len);
  if (secret_is_key(keys, VKILL, c))
    return 0;
  if (len < BN_SECRET_MAX - 1)
    out[len] = c;
  return len + 1;
}

/* Reads keys up to the end of the line, or to a key that sends a signal.  Returns 0, the number of
   the signal (above 0), or -1 and errno: 0 at the end of the input, EMSGSIZE if the password is too
   long. */
static int secret_read_keys(int tty, const struct termios *keys, const _Atomic bool *interrupted,
                            char out[BN_SECRET_MAX])
{
  size_t len = 0;
  char c;

  for (;;) {
    const int rc = secret_await_key(tty, interrupted);
    ssize_t n;
    int signo;

    if (rc != 0)
      return rc;
    n = read(tty, &c, 1);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return -1;
    if (n == 0 || (len == 0 && secret_is_key(keys, VEOF, c)))
      return secret_fail(0);
    signo = secret_signal_of_key(keys, c);
    if (signo != 0)
      return signo;
    if (c == '\n' || c == '\r') {
      out[len] = '\0';
      return 0;
    }
    len = secret_apply_key(keys, c, out, len);
    if (len == BN_SECRET_MAX)
      return secret_fail(EMSGSIZE);
  }
}

/* Turns the echo off, and lets read() get each key at once, also the keys that send signals.
   before: the settings of the terminal, which the caller restores.  Returns 0, or -1 and errno. */
static int secret_silence(int tty, const struct termios *before)
{
  struct termios silent = *before;

  silent.c_lflag &= ~(tcflag_t)(ECHO | ICANON | ISIG);
  silent.c_cc[VMIN] = 1;
  silent.c_cc[VTIME] = 0;
  return tcsetattr(tty, TCSAFLUSH, &silent);
}

/* Asks the question, with echo off while the answer is typed.  Returns as secret_read_keys.  The
   terminal has its echo back then.  After SIGTSTP, the program has stopped and was continued. */
static int secret_ask(int tty, const char *question, const _Atomic bool *interrupted,
                      char out[BN_SECRET_MAX])
{
  struct termios saved;
  sigset_t before;
  int rc, error;

  if (tcgetattr(tty, &saved) != 0)
    return -1;
  secret_block_signals(&before);
  rc = secret_silence(tty, &saved);
  if (rc == 0) {
    (void)dprintf(tty, "%s: ", question);
    rc = secret_read_keys(tty, &saved, interrupted, out);
  }
  error = errno;
  (void)tcsetattr(tty, TCSAFLUSH, &saved);
  /* A terminal that is gone cannot be helped. */
  (void)!write(tty, "\n", 1);
  if (rc == SIGTSTP)
    (void)raise(SIGTSTP); /* stops the program as soon as the signal is no longer blocked */
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return rc;
}

/* Ends the process by the signal of a key.  The question comes before the run, so that there is
   nothing to report: the thread that receives the signals of a run is not needed. */
static void secret_end_process(int signo)
{
  sigset_t set;

  (void)signal(signo, SIG_DFL);
  (void)sigemptyset(&set);
  (void)sigaddset(&set, signo);
  (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  (void)raise(signo);
}

/* Asks on the terminal.  Returns 0, or -1 and err; after a failure too, out may hold a part of the
   secret. */
static int secret_prompt(const char *question, const _Atomic bool *interrupted,
                         char out[BN_SECRET_MAX], struct bn_err *err)
{
  const int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
  int rc;

  if (tty < 0)
    return bn_err_set(err, errno,
                      "cannot ask for the password: no terminal; name a file that has it "
                      "(--mysql-password-file, --pgsql-password-file)");
  /* A program that was stopped and continues asks again. */
  do
    rc = secret_ask(tty, question, interrupted, out);
  while (rc == SIGTSTP);
  if (rc > 0)
    secret_end_process(rc);
  if (rc != 0)
    rc = bn_err_set(err, errno, "cannot read the password from the terminal: %s",
                    secret_reason(errno, "end of input"));
  (void)close(tty);
  return rc;
}

int bn_secret_get(const char *question, const char *path, const struct bn_driver_host *host,
                  char **secret, struct bn_err *err)
{
  char text[BN_SECRET_MAX];
  int rc;

  if (question != NULL)
    rc = secret_prompt(question, host->interrupted, text, err);
  else
    rc = bn_secret_read_file(path, text, err);
  if (rc == 0)
    *secret = host->text(text);
  /* After a failure, too: the file or the terminal may have given a part of the secret. */
  explicit_bzero(text, sizeof text);
  return rc;
}

void bn_secret_free(char *secret)
{
  if (secret != NULL)
    explicit_bzero(secret, strlen(secret));
  free(secret);
}
