/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what a server asks for before it lets a client in, and refuses what is not allowed. */
#include "drivers/pgsql/login.h"

#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ALL = 127, HEAD = 5 };

/* The requests of the protocol. */
enum { OK = 0, SASL_FINAL = 12 };

static const struct {
  const char *name;
  unsigned method;
} names[] = {
    {"password", BN_LOGIN_PASSWORD}, {"md5", BN_LOGIN_MD5},   {"gss", BN_LOGIN_GSS},
    {"sspi", BN_LOGIN_SSPI},         {"none", BN_LOGIN_NONE}, {"scram-sha-256", BN_LOGIN_SCRAM},
};

static unsigned method_named(const char *name)
{
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(names[i].name, name) == 0)
      return names[i].method;
  return 0;
}

static const char *name_of(unsigned method)
{
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].method == method)
      return names[i].name;
  return "unknown";
}

const char *bn_pgsql_login_rule(struct bn_pgsql_login_rule *rule, const struct bn_list *list)
{
  const bool negative = list->n > 0 && list->item[0][0] == '!';
  unsigned named = 0;

  for (size_t i = 0; i < list->n; i++) {
    const char *item = list->item[i];
    const unsigned method = method_named(item + (item[0] == '!'));

    if (method == 0 || (item[0] == '!') != negative)
      return item;
    named |= method;
  }
  rule->given = list->n > 0;
  rule->allowed = rule->given && !negative ? named : ALL & ~named & ~(unsigned)BN_LOGIN_PASSWORD;
  return NULL;
}

static uint32_t uint32_at(const char *p)
{
  uint32_t bits;

  memcpy(&bits, p, sizeof bits);
  return be32toh(bits);
}

/* 0: the request goes on with a method, or ends it. */
static unsigned method_of(uint32_t request)
{
  static const unsigned methods[] = {
      [0] = 0,          [3] = BN_LOGIN_PASSWORD, [5] = BN_LOGIN_MD5,    [7] = BN_LOGIN_GSS,
      [8] = 0,          [9] = BN_LOGIN_SSPI,     [10] = BN_LOGIN_SCRAM, [11] = 0,
      [SASL_FINAL] = 0,
  };

  if (request >= sizeof methods / sizeof methods[0] || request == 1 || request == 2 ||
      request == 4 || request == 6)
    return BN_LOGIN_OTHER;
  return methods[request];
}

/* Whether the server may let the client in now. */
static bool may_end(struct bn_pgsql_login *l)
{
  if (!l->rule->given)
    return true;
  if (l->asked == 0)
    l->asked = BN_LOGIN_NONE;
  return (l->rule->allowed & l->asked) != 0 && (l->asked != BN_LOGIN_SCRAM || l->proved);
}

static enum bn_pgsql_login_act login_judge(struct bn_pgsql_login *l, uint32_t request)
{
  const unsigned method = method_of(request);

  if (request == OK)
    return may_end(l) ? BN_LOGIN_LAST : BN_LOGIN_REFUSE;
  if (request == SASL_FINAL)
    l->proved = true;
  if (method == 0)
    return BN_LOGIN_PASS;
  l->asked = method;
  l->proved = false;
  return (l->rule->allowed & method) != 0 ? BN_LOGIN_PASS : BN_LOGIN_REFUSE;
}

/* A whole message, or what libpq needs to see that it is none. */
static enum bn_pgsql_login_act look_at_message(struct bn_pgsql_login *l, const char *data,
                                               size_t len, size_t *n)
{
  const uint32_t size = len >= HEAD ? uint32_at(data + 1) : 0;

  if (len < HEAD)
    return BN_LOGIN_WAIT;
  if (size < 4 || size > BN_LOGIN_MESSAGE_MAX || (data[0] == 'R' && size < 8)) {
    l->asked = BN_LOGIN_OTHER;
    return BN_LOGIN_REFUSE;
  }
  if (len < 1 + (size_t)size)
    return BN_LOGIN_WAIT;
  *n = 1 + (size_t)size;
  return data[0] == 'R' ? login_judge(l, uint32_at(data + HEAD)) : BN_LOGIN_PASS;
}

enum bn_pgsql_login_act bn_pgsql_login_look(struct bn_pgsql_login *l, bool negotiates,
                                            const char *data, size_t len, size_t *n)
{
  /* libpq reads an error to its end and begins anew, if at all.  Old servers send a text. */
  l->over |= data[0] == 'E';
  *n = l->over ? len : 1;
  if (l->over || (negotiates && data[0] == 'N'))
    return BN_LOGIN_PASS;
  return negotiates ? BN_LOGIN_OPEN : look_at_message(l, data, len, n);
}

void bn_pgsql_login_why(const struct bn_pgsql_login *l, char *out, size_t room)
{
  if (l->asked == BN_LOGIN_PASSWORD && !l->rule->given)
    (void)snprintf(out, room,
                   "the server asks for the password in clear text, and the connection is not "
                   "encrypted; use --pgsql-sslmode=require, or --pgsql-require-auth=password to "
                   "send it\n\n");
  else if (l->asked == BN_LOGIN_NONE)
    (void)snprintf(out, room,
                   "the server asks for no authentication, which --pgsql-require-auth does not "
                   "allow\n\n");
  else if (l->asked == BN_LOGIN_SCRAM && (l->rule->allowed & BN_LOGIN_SCRAM) != 0)
    (void)snprintf(out, room,
                   "the server does not show that it knows the password, as --pgsql-require-auth="
                   "scram-sha-256 demands\n\n");
  else if (l->asked == BN_LOGIN_OTHER && !l->rule->given)
    (void)snprintf(out, room, "received invalid authentication request\n\n");
  else
    (void)snprintf(out, room,
                   "the server asks for the login method '%s', which --pgsql-require-auth does not "
                   "allow\n\n",
                   name_of(l->asked));
}
