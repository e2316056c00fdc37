/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits a URI of a database into its parts. */
#include "base/uri.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Ends s at the first c.  Returns the text after it, or NULL if there is no c. */
static char *uri_cut(char *s, char c)
{
  char *found = strchr(s, c);

  if (found == NULL)
    return NULL;
  *found = '\0';
  return found + 1;
}

static unsigned uri_hex_value(char c)
{
  return isdigit((unsigned char)c) ? (unsigned)(c - '0')
                                   : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

/* Decodes each %XX of a part of a URI in place; messages name it `part`.  Returns 0, or -1 and
   err. */
static int uri_decode(char *s, const char *part, struct bn_err *err)
{
  char *out = s;

  for (; *s != '\0'; s++) {
    if (*s != '%') {
      *out++ = *s;
      continue;
    }
    if (!isxdigit((unsigned char)s[1]) || !isxdigit((unsigned char)s[2]))
      return bn_err_set(
          err, 0, "in the %s, two hexadecimal digits must follow '%%'; for '%%' write %%25", part);
    *out = (char)(uri_hex_value(s[1]) * 16 + uri_hex_value(s[2]));
    if (*out == '\0')
      return bn_err_set(err, 0, "the %s contains %%00, which no server accepts", part);
    out++;
    s += 2;
  }
  *out = '\0';
  return 0;
}

/* Returns s, or NULL if s is empty or NULL: the URI does not have that part. */
static const char *uri_unless_empty(const char *s)
{
  return s != NULL && s[0] != '\0' ? s : NULL;
}

/* --- hosts --- */

/* Parses a port.  An empty text, or NULL because the URI has none, gives 0, the default port of the
   driver.  Returns 0, or -1 and err. */
static int uri_read_port(const char *text, unsigned *port, struct bn_err *err)
{
  char *end;
  unsigned long number;

  *port = 0;
  if (text == NULL || text[0] == '\0')
    return 0;
  number = strtoul(text, &end, 10);
  /* strtoul() would take blanks and a sign. */
  if (!isdigit((unsigned char)text[0]) || *end != '\0' || number == 0 || number > 65535)
    return bn_err_set(err, 0, "the port is not a number from 1 to 65535");
  *port = (unsigned)number;
  return 0;
}

/* Reads "host", "host:port" or "[address]:port".  *host is then the decoded name alone.  Returns 0,
   or -1 and err. */
static int uri_read_host(char **host, unsigned *port, struct bn_err *err)
{
  char *port_text;

  if (**host == '[') {
    char *end = uri_cut(++*host, ']');

    if (end == NULL || (*end != '\0' && *end != ':'))
      return bn_err_set(err, 0, "the host has '[' without ']'");
    port_text = *end == ':' ? end + 1 : NULL;
  } else {
    port_text = uri_cut(*host, ':');
    if (port_text != NULL && strchr(port_text, ':') != NULL)
      return bn_err_set(err, 0, "the host has two ':': write an IPv6 address in brackets");
  }
  if (uri_read_port(port_text, port, err) != 0)
    return -1;
  return uri_decode(*host, "host", err);
}

/* Reads "host:port,host:port", and joins the names in place without their ports, which must be
   equal.  Returns 0, or -1 and err. */
static int uri_read_hosts(struct bn_uri *u, char *text, struct bn_err *err)
{
  char *out = text;
  unsigned port = 0;

  u->host = text;
  for (char *item = text, *next; item != NULL; item = next) {
    const bool is_first = item == text;

    next = uri_cut(item, ',');
    if (uri_read_host(&item, &port, err) != 0)
      return -1;
    if (!is_first && port != u->port)
      return bn_err_set(err, 0,
                        "the hosts have different ports: list them in the options of the driver");
    u->port = port;
    if (!is_first)
      *out++ = ',';
    memmove(out, item, strlen(item) + 1);
    out += strlen(out);
  }
  u->host = uri_unless_empty(u->host);
  return 0;
}

/* --- parameters --- */

/* Adds a parameter "name=value", whose value is decoded.  Returns 0, or -1 and err. */
static int uri_add_param(struct bn_uri *u, char *name, struct bn_err *err)
{
  char *value = uri_cut(name, '=');

  if (value == NULL || value[0] == '\0')
    return bn_err_set(err, 0, "the parameter '%.40s' has no value", name);
  for (size_t i = 0; i < u->n_params; i++)
    if (strcmp(u->param[i].name, name) == 0)
      return bn_err_set(err, 0, "the parameter '%.40s' is given twice", name);
  if (u->n_params == BN_URI_PARAMS_MAX)
    return bn_err_set(err, 0, "there are more than %d parameters", BN_URI_PARAMS_MAX);
  if (uri_decode(value, "value of a parameter", err) != 0)
    return -1;
  u->param[u->n_params++] = (struct bn_uri_param){.name = name, .value = value};
  return 0;
}

/* Reads "name=value&name=value"; NULL: there are no parameters.  Returns 0, or -1 and err. */
static int uri_read_params(struct bn_uri *u, char *text, struct bn_err *err)
{
  for (char *name = text, *next; name != NULL; name = next) {
    next = uri_cut(name, '&');
    if (name[0] != '\0' && uri_add_param(u, name, err) != 0)
      return -1;
  }
  return 0;
}

/* --- all parts --- */

/* Reads "user@" or "user:password@", which may stand before the hosts, and sets *hosts to the rest
   of the text.  Returns 0, or -1 and err. */
static int uri_read_user(struct bn_uri *u, char *text, char **hosts, struct bn_err *err)
{
  char *user = text, *at = strrchr(text, '@'), *password;

  *hosts = at != NULL ? at + 1 : text;
  if (at == NULL)
    return 0;
  *at = '\0';
  password = uri_cut(user, ':');
  u->user = uri_unless_empty(user);
  u->password = password;
  if (uri_decode(user, "user", err) != 0)
    return -1;
  if (password != NULL && uri_decode(password, "password", err) != 0)
    return -1;
  return 0;
}

/* Cuts u->text into its parts, and decodes them in place.  Returns 0, or -1 and err. */
static int uri_read_parts(struct bn_uri *u, struct bn_err *err)
{
  char *scheme_end = strstr(u->text, "://");
  char *user_and_hosts, *query, *path, *hosts;

  if (scheme_end == NULL)
    return bn_err_set(err, 0, "it has no '://'; the form is scheme://user@host:port/database");
  u->scheme = u->text;
  *scheme_end = '\0';
  user_and_hosts = scheme_end + strlen("://");
  /* The query is cut off first, because a '/' in it begins no path. */
  query = uri_cut(user_and_hosts, '?');
  path = uri_cut(user_and_hosts, '/');
  /* An '@' after the hosts, or a '#' anywhere, has to be written as %XX.  The message shows no text
     of the URI: the text before the mark may be the end of a password. */
  if (strchr(user_and_hosts, '#') != NULL || (path != NULL && strpbrk(path, "@#") != NULL) ||
      (query != NULL && strpbrk(query, "@#") != NULL))
    return bn_err_set(err, 0,
                      "'@' or '#' is where none can be: write %%2F for '/', %%3F for '?', %%23 for "
                      "'#' and %%40 for '@'");
  if (uri_read_user(u, user_and_hosts, &hosts, err) != 0)
    return -1;
  u->path = uri_unless_empty(path);
  if (path != NULL && uri_decode(path, "database", err) != 0)
    return -1;
  if (uri_read_hosts(u, hosts, err) != 0)
    return -1;
  return uri_read_params(u, query, err);
}

int bn_uri_parse(struct bn_uri *u, const char *text, struct bn_err *err)
{
  *u = (struct bn_uri){.text = bn_alloc_text(text), .size = strlen(text) + 1};
  return uri_read_parts(u, err);
}

void bn_uri_done(struct bn_uri *u)
{
  if (u->text != NULL)
    explicit_bzero(u->text, u->size);
  free(u->text);
  *u = (struct bn_uri){.text = NULL};
}
