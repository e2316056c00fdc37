/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first two payloads as JSON. */
#include "hosts/handshake.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "hosts/frame.h"
#include "measure/json_write.h"
#include "option/words.h"

/* --- writing --- */

/* Returns a map that begins as all payloads do. */
static struct bn_node *handshake_new_map(void)
{
  struct bn_node *map = bn_node_map();

  bn_json_put(map, "protocol", bn_node_integer(BN_FRAME_PROTOCOL));
  bn_json_put(map, "version", bn_node_text(PACKAGE_VERSION));
  return map;
}

/* Returns a list of words.  If a word is not UTF-8, returns NULL and err, which names the kind of
   the word ("argument") and its origin ("command line"), but does not quote the word, because it
   may be a password. */
static struct bn_node *handshake_make_list(const struct bn_list *words, const char *kind,
                                           const char *origin, struct bn_err *err)
{
  struct bn_node *list = bn_node_list();

  for (size_t i = 0; i < words->n; i++)
    if (bn_node_append(list, bn_node_utf8(words->item[i])) != 0) {
      (void)bn_err_set(err, EILSEQ, "%s %zu of the %s is not UTF-8 and cannot be sent to hosts",
                       kind, i + 1, origin);
      bn_node_free(list);
      return NULL;
    }
  return list;
}

/* Returns the text of the map, which it frees. */
static char *handshake_print_map(struct bn_node *map, size_t *len)
{
  char *text = bn_node_print(map, 0, len);

  bn_node_free(map);
  return text;
}

char *bn_handshake_print(const struct bn_handshake *h, size_t *len, struct bn_err *err)
{
  struct bn_node *argv = handshake_make_list(&h->argv, "argument", "command line", err);
  struct bn_node *environment =
      argv != NULL ? handshake_make_list(&h->environment, "password", "environment", err) : NULL;
  struct bn_node *map;

  if (environment == NULL) {
    bn_node_free(argv);
    return NULL;
  }
  map = handshake_new_map();
  bn_json_put(map, "host", bn_node_integer(h->host));
  bn_json_put(map, "first_session", bn_node_u64(h->first_session));
  bn_json_put(map, "sessions", bn_node_u64(h->sessions));
  bn_json_put(map, "argv", argv);
  if (h->outside > 0)
    bn_json_put(map, "outside", bn_node_u64(h->outside));
  bn_json_put(map, "environment", environment);
  return handshake_print_map(map, len);
}

char *bn_welcome_print(const char *host_name, size_t *len)
{
  struct bn_node *map = handshake_new_map();

  bn_json_put(map, "host name", bn_node_text(host_name));
  return handshake_print_map(map, len);
}

/* --- reading --- */

/* Reads a number.  Returns false if the member is missing or not a whole number from 0 to
   `max`. */
static bool handshake_get_number(const struct bn_node *map, const char *key, uint64_t max,
                                 uint64_t *out)
{
  const struct bn_node *member = bn_node_get(map, key);

  if (bn_node_type_of(member) != BN_NODE_INT || bn_node_get_integer(member) < 0)
    return false;
  *out = (uint64_t)bn_node_get_integer(member);
  return *out <= max;
}

/* Returns a copy of a text, or NULL if it is missing or not a text. */
static char *handshake_get_text(const struct bn_node *map, const char *key)
{
  return bn_alloc_copy(bn_node_get_text(bn_node_get(map, key)));
}

/* Refuses a map of another protocol than that of this program.  `frame` is the name of its frame.
   Returns 0, or -1 and err. */
static int handshake_check_protocol(const struct bn_node *map, const char *frame,
                                    struct bn_err *err)
{
  const char *version = bn_node_get_text(bn_node_get(map, "version"));
  uint64_t protocol;
  char shown[64];

  if (!handshake_get_number(map, "protocol", INT64_MAX, &protocol))
    return bn_err_set(err, EPROTO, "a frame %s names no protocol", frame);
  if (protocol == BN_FRAME_PROTOCOL)
    return 0;
  (void)bn_escape(shown, sizeof shown, version != NULL ? version : "?", "");
  return bn_err_set(err, EPROTO,
                    "bench %s there has protocol %llu, and this bench has %d; install the same "
                    "version on all hosts",
                    shown, (unsigned long long)protocol, BN_FRAME_PROTOCOL);
}

/* Returns the map of the payload of a frame, or NULL and err if it is not one of this protocol. */
static struct bn_node *handshake_parse_map(const char *data, size_t len, const char *frame,
                                           struct bn_err *err)
{
  struct bn_err quoting = {.code = 0}; /* not shown: it may quote a password */
  struct bn_node *map = bn_node_parse(data, len, &quoting);

  if (map == NULL)
    (void)bn_err_set(err, EPROTO, "a frame %s is not JSON", frame);
  else if (handshake_check_protocol(map, frame, err) == 0)
    return map;
  bn_node_free(map);
  return NULL;
}

/* Adds the texts of a list to *out, which the caller frees in both cases.  Returns false if the
   member is missing or not a list of texts. */
static bool handshake_get_words(const struct bn_node *map, const char *key, struct bn_list *out)
{
  const struct bn_node *list = bn_node_get(map, key);

  if (bn_node_type_of(list) != BN_NODE_LIST)
    return false;
  for (size_t i = 0; i < bn_node_count(list); i++) {
    const char *text = bn_node_get_text(bn_node_get_at(list, i));

    if (text == NULL)
      return false;
    bn_words_add(out, text);
  }
  return true;
}

/* Reads the members of HELLO into *out, which is empty.  Returns false if a member is missing or
   wrong; the caller frees *out in both cases. */
static bool handshake_read_hello(const struct bn_node *map, struct bn_handshake *out)
{
  const bool has_groups = bn_node_get(map, "outside") != NULL;
  uint64_t host;

  if (!handshake_get_number(map, "host", UINT32_MAX, &host) ||
      !handshake_get_number(map, "sessions", UINT32_MAX, &out->sessions) ||
      !handshake_get_number(map, "first_session", UINT32_MAX, &out->first_session))
    return false;
  out->host = (unsigned)host;
  /* Both numbers are 0 for a group that is one process. */
  if (out->first_session > 0 && out->first_session >= out->sessions)
    return false;
  if (!handshake_get_words(map, "argv", &out->argv) || out->argv.n == 0 ||
      !handshake_get_words(map, "environment", &out->environment))
    return false;
  return !has_groups || handshake_get_number(map, "outside", out->argv.n, &out->outside);
}

int bn_handshake_parse(const char *data, size_t len, struct bn_handshake *out, struct bn_err *err)
{
  struct bn_node *map = handshake_parse_map(data, len, "HELLO", err);
  bool is_complete;

  *out = (struct bn_handshake){.host = 0};
  if (map == NULL)
    return -1;
  is_complete = handshake_read_hello(map, out);
  bn_node_free(map);
  if (is_complete)
    return 0;
  bn_handshake_done(out);
  return bn_err_set(err, EPROTO, "a frame HELLO lacks a member or has a wrong one");
}

int bn_welcome_parse(const char *data, size_t len, struct bn_welcome *out, struct bn_err *err)
{
  struct bn_node *map = handshake_parse_map(data, len, "WELCOME", err);

  *out = (struct bn_welcome){.version = NULL};
  if (map == NULL)
    return -1;
  out->version = handshake_get_text(map, "version");
  out->host_name = handshake_get_text(map, "host name");
  bn_node_free(map);
  if (out->version != NULL && out->host_name != NULL)
    return 0;
  bn_welcome_done(out);
  return bn_err_set(err, EPROTO, "a frame WELCOME lacks a member or has a wrong one");
}

/* --- the environment --- */

/* The variables from which drivers or their libraries read passwords. */
static const char *const password_variables[] = {"MYSQL_PWD", "PGPASSWORD"};
enum { N_PASSWORD_VARIABLES = sizeof password_variables / sizeof *password_variables };

void bn_handshake_add_passwords(struct bn_handshake *h)
{
  for (size_t i = 0; i < N_PASSWORD_VARIABLES; i++) {
    const char *value = getenv(password_variables[i]);

    if (value != NULL)
      bn_words_adopt(&h->environment, bn_alloc_print("%s=%s", password_variables[i], value));
  }
}

/* Returns the name of the variable that "NAME=VALUE" sets, or NULL if a controller may not set
   it. */
static const char *handshake_find_variable(const char *word)
{
  for (size_t i = 0; i < N_PASSWORD_VARIABLES; i++) {
    const size_t len = strlen(password_variables[i]);

    if (strncmp(word, password_variables[i], len) == 0 && word[len] == '=')
      return password_variables[i];
  }
  return NULL;
}

int bn_handshake_set_environment(const struct bn_handshake *h, struct bn_err *err)
{
  for (size_t i = 0; i < h->environment.n; i++) {
    const char *word = h->environment.item[i], *name = handshake_find_variable(word);

    if (name == NULL)
      return bn_err_set(err, EPROTO, "a frame HELLO sets a variable that is not a password");
    if (setenv(name, word + strlen(name) + strlen("="), 1 /* overwrite */) != 0)
      bn_alloc_fail();
  }
  return 0;
}

/* --- life --- */

void bn_handshake_done(struct bn_handshake *h)
{
  bn_words_done(&h->argv);
  bn_words_done(&h->environment);
  *h = (struct bn_handshake){.host = 0};
}

void bn_welcome_done(struct bn_welcome *w)
{
  free(w->version);
  free(w->host_name);
  *w = (struct bn_welcome){.version = NULL};
}
