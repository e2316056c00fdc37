/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --connect: the URI of a database stands for options of its driver. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mask.h"
#include "base/uri.h"
#include "cli/cli.h"
#include "registry.h"

/* The options that a URI sets: those of its driver, in this set. */
struct target {
  struct bn_optset *options;
  const struct bn_registry_driver *driver;
};

/* Returns the driver whose URIs have this scheme, or NULL. */
static const struct bn_registry_driver *connect_find_driver(const char *scheme)
{
  for (const struct bn_registry_driver *d = bn_registry_drivers; d->name != NULL; d++)
    for (const char *const *s = d->schemes; s != NULL && *s != NULL; s++)
      if (strcmp(*s, scheme) == 0)
        return d;
  return NULL;
}

/* Returns whether the user has set the option in the same place as the URI, or in one that counts
   more: the command line counts more than a file. */
static bool connect_is_set(const struct bn_optset *options, const char *option)
{
  const enum bn_origin origin = bn_optset_get_origin(options, option);

  /* An origin that counts more has a greater number. */
  return origin != BN_FROM_DEFAULT && origin >= bn_optset_get_origin(options, "connect");
}

/* Returns whether the URI must not set the option: the user has set it (connect_is_set), or has set
   another option that it would replace, as a socket replaces a host.  The URI must not set a secret
   either if the user has set an option that replaces it, such as a file with the password. */
static bool connect_must_keep(const struct target *t, const struct bn_opt *o)
{
  if (connect_is_set(t->options, o->name))
    return true;
  for (const struct bn_opt *other = t->driver->options; other->name != NULL; other++) {
    const bool is_rival = bn_opt_is_listed(o->replaces, other->name) ||
                          (o->secret && bn_opt_is_listed(other->replaces, o->name));

    if (is_rival && connect_is_set(t->options, other->name))
      return true;
  }
  return false;
}

/* Sets an option for the URI.  Messages show BN_MASK in place of the argument, because the URI may
   have a password.  The set keeps a fault of the value for bn_cli_check_options. */
static void connect_set(struct bn_optset *options, const char *name, const char *value)
{
  (void)bn_optset_set(options, name, value, BN_MASK);
}

/* Unsets the options that would replace this one, if the user has set them in a place that counts
   less than that of the URI: in a file, while the URI is on the command line. */
static void connect_clear_rivals(const struct target *t, const struct bn_opt *o)
{
  const enum bn_origin uri_origin = bn_optset_get_origin(t->options, "connect");

  for (const struct bn_opt *other = t->driver->options; other->name != NULL; other++) {
    const enum bn_origin origin = bn_optset_get_origin(t->options, other->name);
    const bool is_rival = bn_opt_is_listed(other->replaces, o->name);
    const bool counts_less = origin != BN_FROM_DEFAULT && origin < uri_origin;

    if (is_rival && counts_less)
      connect_set(t->options, other->name, other->type == BN_BOOL ? "off" : "");
  }
}

/* Sets an option, unless the user's own setting counts more. */
static void connect_set_option(const struct target *t, const struct bn_opt *o, const char *value)
{
  if (connect_must_keep(t, o))
    return;
  connect_clear_rivals(t, o);
  connect_set(t->options, o->name, value);
}

/* Sets the driver's option for this part of a URI, if it has one.  value NULL: the URI does not
   have the part. */
static void connect_set_part(const struct target *t, const char *part, const char *value)
{
  if (value == NULL)
    return;
  for (const struct bn_opt *o = t->driver->options; o->name != NULL; o++)
    if (o->uri_part != NULL && strcmp(o->uri_part, part) == 0) {
      connect_set_option(t, o, value);
      return;
    }
}

/* Says that the driver has no such parameter, and lists those that it has.  Returns -1. */
static int connect_refuse_param(const struct target *t, const char *name)
{
  struct bn_buf known = {.max = 0};

  for (const struct bn_opt *o = t->driver->options; o->name != NULL; o++)
    if (o->uri_params != NULL)
      (void)bn_buf_printf(&known, "%s%s", known.len > 0 ? ", " : "", o->uri_params);
  bn_log_stderr("--connect: the driver %s has no parameter '%.40s'; allowed: %s", t->driver->name,
                name, known.data != NULL ? known.data : "");
  bn_buf_done(&known);
  return -1;
}

/* Returns the driver's option for a parameter of the URI, or NULL. */
static const struct bn_opt *connect_find_param(const struct target *t, const char *name)
{
  for (const struct bn_opt *o = t->driver->options; o->name != NULL; o++)
    if (bn_opt_is_listed(o->uri_params, name))
      return o;
  return NULL;
}

/* Appends "NAME='VALUE'", as libpq reads it. */
static void connect_append_param(struct bn_buf *b, const struct bn_uri_param *p)
{
  (void)bn_buf_printf(b, "%s%s='", b->len > 0 ? " " : "", p->name);
  for (const char *c = p->value; *c != '\0'; c++) {
    if (*c == '\'' || *c == '\\')
      (void)bn_buf_char(b, '\\');
    (void)bn_buf_char(b, *c);
  }
  (void)bn_buf_char(b, '\'');
}

/* Sets an option that collects parameters for the client library to all parameters of the URI that
   it collects.  The function is called for each parameter, and sets the same text each time. */
static void connect_set_collected(const struct target *t, const struct bn_opt *o,
                                  const struct bn_uri *u)
{
  struct bn_buf b = {.max = 0};

  for (size_t i = 0; i < u->n_params; i++)
    if (connect_find_param(t, u->param[i].name) == o)
      connect_append_param(&b, &u->param[i]);
  connect_set_option(t, o, b.data);
  bn_buf_done(&b);
}

/* Sets the option of a parameter.  Returns 0, or -1 after a message that the driver has none. */
static int connect_set_param(const struct target *t, const struct bn_uri *u,
                             const struct bn_uri_param *p)
{
  const struct bn_opt *o = connect_find_param(t, p->name);

  if (o == NULL)
    return connect_refuse_param(t, p->name);
  if (o->uri_collects)
    connect_set_collected(t, o, u);
  else
    connect_set_option(t, o, p->value);
  return 0;
}

/* Sets the options of all parts of a URI.  Parameters come first, because ?host= replaces the host
   before the path, as in libpq.  Returns 0, or -1 after a message. */
static int connect_set_all(const struct target *t, const struct bn_uri *u)
{
  char port[16];

  (void)snprintf(port, sizeof port, "%u", u->port);
  for (size_t i = 0; i < u->n_params; i++)
    if (connect_set_param(t, u, &u->param[i]) != 0)
      return -1;
  connect_set_part(t, "user", u->user);
  connect_set_part(t, "password", u->password);
  connect_set_part(t, "host", u->host);
  connect_set_part(t, "port", u->port != 0 ? port : NULL);
  connect_set_part(t, "path", u->path);
  return 0;
}

/* Sets --db-driver to the driver of the URI, or refuses typed_driver, the value of --db-driver, if
   it is another one.  Returns 0, or -1 after a message. */
static int connect_set_driver(const struct target *t, const char *typed_driver)
{
  char masked[BN_MASK_MAX];

  if (!connect_is_set(t->options, "db-driver")) {
    connect_set(t->options, "db-driver", t->driver->name);
    return 0;
  }
  if (typed_driver == NULL)
    typed_driver = "";
  if (strcmp(typed_driver, t->driver->name) == 0)
    return 0;
  bn_log_stderr(
      "--connect: the URI is for the driver %s, but --db-driver=%s; leave out one of them",
      t->driver->name, bn_mask_text(typed_driver, masked));
  return -1;
}

/* Says that no driver has the scheme of the URI, and lists the schemes of all drivers.  The scheme
   of the URI is not shown, because it may be a password in a wrong place.  Returns -1. */
static int connect_refuse_scheme(void)
{
  struct bn_buf known = {.max = 0};

  for (const struct bn_registry_driver *d = bn_registry_drivers; d->name != NULL; d++)
    for (const char *const *s = d->schemes; s != NULL && *s != NULL; s++)
      (void)bn_buf_printf(&known, "%s%s", known.len > 0 ? ", " : "", *s);
  bn_log_stderr("--connect: unknown scheme; allowed: %s", known.data != NULL ? known.data : "");
  bn_buf_done(&known);
  return -1;
}

/* Sets --db-driver and the options of the driver that has the scheme of the URI.  Returns 0, or -1
   after a message. */
static int connect_apply(struct bn_optset *options, const struct bn_uri *u,
                         const char *typed_driver)
{
  const struct target t = {options, connect_find_driver(u->scheme)};

  if (t.driver == NULL)
    return connect_refuse_scheme();
  if (connect_set_driver(&t, typed_driver) != 0)
    return -1;
  return connect_set_all(&t, u);
}

int bn_cli_apply_uri(struct bn_optset *options, const char *uri, const char *typed_driver)
{
  struct bn_err err = {0};
  struct bn_uri u;
  int rc;

  if (uri == NULL || uri[0] == '\0')
    return 0;
  rc = bn_uri_parse(&u, uri, &err);
  if (rc != 0)
    bn_log_stderr("--connect: %s", err.text);
  else
    rc = connect_apply(options, &u, typed_driver);
  bn_uri_done(&u);
  return rc;
}

bool bn_cli_is_local(const char *driver, const char *uri)
{
  const struct bn_registry_driver *uri_driver = NULL;
  struct bn_err err = {0};
  struct bn_uri u;

  if (uri != NULL && uri[0] != '\0') {
    if (bn_uri_parse(&u, uri, &err) == 0)
      uri_driver = connect_find_driver(u.scheme);
    bn_uri_done(&u);
  }
  return uri_driver != NULL ? uri_driver->embedded : bn_registry_is_local(NULL, driver);
}
