/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --db-read-hosts: reads its list of servers, and chooses one of them for a connection. */
#include "sql/readhosts.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/mask.h"

bool bn_sql_has_option(const struct bn_driver *ops, const char *name)
{
  const size_t prefix = strlen(ops->name);

  for (const struct bn_opt *o = ops->options; o != NULL && o->name != NULL; o++) {
    if (strncmp(o->name, ops->name, prefix) == 0 && o->name[prefix] == '-' &&
        strcmp(o->name + prefix + 1, name) == 0)
      return true;
  }
  return false;
}

/* Adds an override of a driver's option; a server has two of them at most. */
static void readhosts_add_override(struct bn_sql_read_host *h, const char *name, const char *value)
{
  h->name[h->n] = name;
  h->value[h->n++] = value;
}

/* Returns whether the text is the number of a port. */
static bool readhosts_is_port(const char *text)
{
  const bool is_number = text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
  const unsigned long port = strtoul(text, NULL, 10);

  return is_number && port > 0 && port <= UINT16_MAX;
}

/* Reads a path, and cuts the text into its parts, which h keeps.  is_socket: the driver takes each
   path for a socket.  Else it takes the path for a folder with a socket for each port, and ":PORT"
   may follow. */
static void readhosts_read_path(struct bn_sql_read_host *h, char *text, bool is_socket)
{
  char *colon = is_socket ? NULL : strrchr(text, ':');
  const bool has_port = colon != NULL && readhosts_is_port(colon + 1);

  if (has_port)
    *colon = '\0';
  readhosts_add_override(h, is_socket ? "socket" : "host", text);
  if (has_port)
    readhosts_add_override(h, "port", colon + 1);
}

/* Reads "HOST", "HOST:PORT", "[ADDRESS]" or "[ADDRESS]:PORT", and cuts the text into its parts,
   which h keeps.  Returns 0, or -1 if it is none of these. */
static int readhosts_read_host(struct bn_sql_read_host *h, char *text)
{
  const bool is_bracketed = *text == '[';
  const char *after; /* the position after the host and its bracket */
  bool has_port;
  char *end;

  if (is_bracketed)
    text++;
  end = is_bracketed ? strchr(text, ']') : text + strcspn(text, ":");
  if (end == NULL || end == text || strpbrk(text, "/ \t") != NULL)
    return -1;
  after = is_bracketed ? end + 1 : end;
  has_port = *after == ':' && readhosts_is_port(after + 1);
  if (*after != '\0' && !has_port)
    return -1;
  *end = '\0'; /* without brackets, this is the colon */
  readhosts_add_override(h, "host", text);
  if (has_port)
    readhosts_add_override(h, "port", after + 1);
  return 0;
}

int bn_sql_read_hosts_parse(struct bn_sql_read_hosts *h, const struct bn_list *list,
                            const struct bn_driver *ops, struct bn_err *err)
{
  const bool has_sockets = bn_sql_has_option(ops, "socket");
  char masked[BN_MASK_MAX];

  if (list->n == 0)
    return 0;
  if (!bn_sql_has_option(ops, "host"))
    return bn_err_set(err, EINVAL,
                      "--db-read-hosts cannot be used with the database driver '%s', which has no "
                      "servers",
                      ops->name);
  if (ops->transaction == NULL)
    return bn_err_set(err, EINVAL,
                      "--db-read-hosts cannot be used with the database driver '%s', which does "
                      "not say whether a transaction is open",
                      ops->name);
  h->item = bn_alloc(list->n, sizeof *h->item);
  h->text = bn_alloc(list->n, sizeof *h->text);
  h->n = list->n;
  for (size_t i = 0; i < h->n; i++) {
    h->text[i] = bn_alloc_text(list->item[i]); /* which is cut into parts */
    if (h->text[i][0] == '/')
      readhosts_read_path(&h->item[i], h->text[i], has_sockets);
    else if (readhosts_read_host(&h->item[i], h->text[i]) != 0)
      return bn_err_set(err, EINVAL,
                        "--db-read-hosts=%s: not a server; allowed: host, host:port, [address], "
                        "[address]:port or an absolute path",
                        bn_mask_text(list->item[i], masked));
  }
  return 0;
}

void bn_sql_read_hosts_free(struct bn_sql_read_hosts *h)
{
  for (size_t i = 0; i < h->n; i++)
    free(h->text[i]);
  free(h->text);
  free(h->item);
  *h = (struct bn_sql_read_hosts){.n = 0};
}

/* Returns the greatest common divisor, by Euclid's algorithm. */
static size_t readhosts_greatest_divisor(size_t a, size_t b)
{
  while (b != 0) {
    const size_t remainder = a % b;

    a = b;
    b = remainder;
  }
  return a;
}

/* Each connection takes the next write server and the next read server.  The same pairs would then
   come again after `period` connections, the least common multiple of both numbers, so each period
   begins one read server further.  After `divisor` periods, all pairs have been used. */
size_t bn_sql_read_hosts_choose(const struct bn_sql_read_hosts *h, unsigned ordinal, size_t places)
{
  const size_t divisor = readhosts_greatest_divisor(places, h->n);
  const size_t period = places / divisor * h->n;

  return (ordinal + ordinal / period % divisor) % h->n;
}
