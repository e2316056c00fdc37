/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remembers the addresses of hosts. */
#include "drivers/common/names.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A name that has addresses; never changed, so that callers may read `addresses` without a lock. */
struct names_entry {
  char *name, *addresses;
  struct names_entry *next;
};

struct bn_names {
  const struct bn_driver_host *host;
  pthread_mutex_t lock;
  struct names_entry *first;
};

struct bn_names *bn_names_new(const struct bn_driver_host *host)
{
  struct bn_names *names = host->alloc(1, sizeof *names);

  names->host = host;
  (void)pthread_mutex_init(&names->lock, NULL);
  return names;
}

void bn_names_free(struct bn_names *names)
{
  if (names == NULL)
    return;
  while (names->first != NULL) {
    struct names_entry *entry = names->first;

    names->first = entry->next;
    free(entry->name);
    free(entry->addresses);
    free(entry);
  }
  (void)pthread_mutex_destroy(&names->lock);
  free(names);
}

/* Returns whether the text is the name of one host: neither an address, with or without a zone
   ("%eth0"), nor a path, which may begin with '@', nor a list. */
static bool names_is_name(const char *host)
{
  unsigned char unused[sizeof(struct in6_addr)];
  const bool is_address =
      inet_pton(AF_INET, host, unused) == 1 || inet_pton(AF_INET6, host, unused) == 1;

  return !is_address && host[0] != '\0' && host[0] != '@' && strpbrk(host, "/,%") == NULL;
}

/* Returns the addresses of the name with commas between them, which the caller frees.  Returns NULL
   if there are none: the connect to the name will say why. */
static char *names_look_up(const struct bn_driver_host *host, const char *name)
{
  const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  struct addrinfo *found = NULL;
  char *list = NULL;

  if (getaddrinfo(name, NULL, &hints, &found) != 0)
    return NULL;
  for (const struct addrinfo *a = found; a != NULL; a = a->ai_next) {
    char address[NI_MAXHOST], *longer;
    const int failure =
        getnameinfo(a->ai_addr, a->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST);

    if (failure != 0)
      continue;
    longer = list == NULL ? host->text(address) : host->print("%s,%s", list, address);
    free(list);
    list = longer;
  }
  freeaddrinfo(found);
  return list;
}

/* Returns the addresses of the name, or NULL if it has none.  Addresses are kept, so that the
   system is asked once for a name; it is asked again for a name that had none.  The caller holds
   the lock, also while the system is asked. */
static const char *names_resolve_locked(struct bn_names *names, const char *name)
{
  struct names_entry *entry;
  char *addresses;

  for (entry = names->first; entry != NULL; entry = entry->next)
    if (strcmp(entry->name, name) == 0)
      return entry->addresses;
  addresses = names_look_up(names->host, name);
  if (addresses == NULL)
    return NULL;
  entry = names->host->alloc(1, sizeof *entry);
  *entry = (struct names_entry){
      .name = names->host->text(name), .addresses = addresses, .next = names->first};
  names->first = entry;
  return addresses;
}

const char *bn_names_resolve(struct bn_names *names, const char *host)
{
  const char *addresses;

  if (!names_is_name(host))
    return NULL;
  (void)pthread_mutex_lock(&names->lock);
  addresses = names_resolve_locked(names, host);
  (void)pthread_mutex_unlock(&names->lock);
  return addresses;
}
