/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Division of a run among hosts. */
#include "hosts/work_split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/mask.h"
#include "base/units.h"

/* --- the list --- */

static const char blanks[] = " \t\r\n";

/* The origin of a list, for messages. */
struct list_source {
  const char *option; /* "--hosts", "--hosts-file" */
  const char *path;   /* NULL: the option's value */
};

/* Refuses an entry of a list for the fault, and quotes the entry, or the beginning of a long
   entry.  Returns -1. */
static int work_split_refuse(const struct list_source *source, const char *entry, size_t len,
                             const char *fault, struct bn_err *err)
{
  char copy[64], masked[BN_MASK_MAX];
  char shown[BN_ESCAPED * sizeof copy];

  if (len >= sizeof copy)
    len = sizeof copy - 1;
  memcpy(copy, entry, len);
  copy[len] = '\0';
  (void)bn_escape(shown, sizeof shown, bn_mask_text(copy, masked), "");
  if (source->path == NULL)
    return bn_err_set(err, BN_ERR_OPTION, "%s: '%s': %s", source->option, shown, fault);
  return bn_err_set(err, BN_ERR_OPTION, "%s: '%s' in '%.100s': %s", source->option, shown,
                    source->path, fault);
}

/* A name and the number after it, in the text of a list. */
struct entry {
  const char *name, *threads; /* threads NULL: no number */
  size_t name_len, threads_len;
};

/* Stores the parts of an entry that ends at `end`.  colon NULL: there is no number of threads. */
static void work_split_set_entry(struct entry *out, const char *name, size_t name_len,
                                 const char *colon, const char *end)
{
  *out = (struct entry){.name = name, .name_len = name_len};
  if (colon != NULL) {
    out->threads = colon + 1;
    out->threads_len = (size_t)(end - out->threads);
  }
}

/* Splits "[ADDRESS]" or "[ADDRESS]:THREADS".  Returns what is wrong with the entry, or NULL. */
static const char *work_split_parse_address(const char *text, size_t len, struct entry *out)
{
  const char *end = text + len, *address = text + 1;
  const char *bracket = memchr(text, ']', len);
  const char *after = bracket != NULL ? bracket + 1 : end;

  if (bracket == NULL || (after < end && *after != ':'))
    return "an address in brackets must end with ']' or ']:threads'";
  work_split_set_entry(out, address, (size_t)(bracket - address), after < end ? after : NULL, end);
  return NULL;
}

/* Splits "NAME" or "NAME:THREADS", where the name may be an address in brackets.  Returns what is
   wrong with the entry, or NULL. */
static const char *work_split_parse_entry(const char *text, size_t len, struct entry *out)
{
  const char *end = text + len, *colon, *name_end;

  if (text[0] == '[')
    return work_split_parse_address(text, len, out);
  colon = memchr(text, ':', len);
  name_end = colon != NULL ? colon : end;
  if (colon != NULL && memchr(colon + 1, ':', (size_t)(end - colon - 1)) != NULL)
    return "an IPv6 address must be in brackets, as in [::1]:8";
  work_split_set_entry(out, text, (size_t)(name_end - text), colon, end);
  return NULL;
}

/* Returns what is wrong with the name of a host, or NULL. */
static const char *work_split_find_name_fault(const char *name, size_t len)
{
  enum { DEL = 0x7f };

  if (len == 0)
    return "the name of a host is empty";
  if (len > BN_WORK_SPLIT_NAME_MAX)
    return "the name of a host is too long";
  if (name[0] == '-')
    return "the name of a host must not begin with '-'";
  for (size_t i = 0; i < len; i++)
    if ((unsigned char)name[i] <= ' ' || name[i] == DEL ||
        strchr("'\"\\`$;&|<>()", name[i]) != NULL)
      return "the name of a host must not have blanks, quotes or other characters of a shell";
  return NULL;
}

/* Returns the number of threads, or 0 if the text is not one. */
static unsigned work_split_parse_threads(const char *text, size_t len)
{
  char copy[16];
  int64_t n;

  if (len == 0 || len >= sizeof copy || text[0] < '0' || text[0] > '9')
    return 0;
  memcpy(copy, text, len);
  copy[len] = '\0';
  if (bn_units_parse_int(copy, &n) != 0 || n < 1 || n > BN_WORK_SPLIT_THREADS)
    return 0;
  return (unsigned)n;
}

/* Returns why the entry cannot be added to the list, or NULL. */
static const char *work_split_find_list_fault(const struct bn_work_split_list *list,
                                              const struct entry *e)
{
  _Static_assert(BN_WORK_SPLIT_HOSTS == 256, "the text names the number");
  if (list->n == BN_WORK_SPLIT_HOSTS)
    return "there are more than 256 hosts";
  for (size_t i = 0; i < list->n; i++)
    if (strlen(list->host[i].name) == e->name_len &&
        memcmp(list->host[i].name, e->name, e->name_len) == 0)
      return "the host is listed twice";
  return NULL;
}

/* Adds the host of an entry "NAME" or "NAME:THREADS" to the list.  Returns 0, or -1 and err. */
static int work_split_add_entry(struct bn_work_split_list *list, const struct list_source *source,
                                const char *text, size_t len, struct bn_err *err)
{
  struct entry e;
  unsigned threads = 0; /* none stand after the name */
  const char *fault = work_split_parse_entry(text, len, &e);

  if (fault == NULL)
    fault = work_split_find_name_fault(e.name, e.name_len);
  if (fault == NULL && e.threads != NULL) {
    _Static_assert(BN_WORK_SPLIT_THREADS == 1000000, "the text names the number");
    threads = work_split_parse_threads(e.threads, e.threads_len);
    if (threads == 0)
      fault = "the number of threads after ':' must be 1 to 1000000";
  }
  if (fault == NULL)
    fault = work_split_find_list_fault(list, &e);
  if (fault != NULL)
    return work_split_refuse(source, text, len, fault, err);
  list->host = bn_alloc_resize(list->host, list->n + 1, sizeof *list->host);
  list->host[list->n++] = (struct bn_work_split_host){bn_alloc_part(e.name, e.name_len), threads};
  return 0;
}

int bn_work_split_add(struct bn_work_split_list *list, const char *text, struct bn_err *err)
{
  const struct list_source source = {"--hosts", NULL};

  for (;;) {
    const char *begin = text + strspn(text, blanks);
    const char *comma = begin + strcspn(begin, ","); /* or the end of the text */
    const char *end = comma;

    while (end > begin && strchr(blanks, end[-1]) != NULL)
      end--;
    if (work_split_add_entry(list, &source, begin, (size_t)(end - begin), err) != 0)
      return -1;
    if (*comma == '\0')
      return 0;
    text = comma + 1;
  }
}

int bn_work_split_add_file(struct bn_work_split_list *list, const char *text, const char *path,
                           struct bn_err *err)
{
  const struct list_source source = {"--hosts-file", path};
  const size_t n_before = list->n;

  while (*text != '\0') {
    const size_t len = strcspn(text, ", \t\r\n#");

    if (len > 0 && work_split_add_entry(list, &source, text, len, err) != 0)
      return -1;
    text += len;
    if (*text == '#')
      text += strcspn(text, "\n"); /* skips the comment */
    else if (*text != '\0')
      text++;
  }
  if (list->n > n_before)
    return 0;
  return bn_err_set(err, BN_ERR_OPTION, "%s: '%.200s' names no host", source.option, path);
}

void bn_work_split_done(struct bn_work_split_list *list)
{
  for (size_t i = 0; i < list->n; i++)
    free(list->host[i].name);
  free(list->host);
  *list = (struct bn_work_split_list){.n = 0};
}

/* --- division --- */

/* Refuses a value that is less than the number of hosts, because each host needs at least 1 of it.
   Returns -1. */
static int work_split_refuse_too_few(const char *option, uint64_t value, size_t hosts,
                                     struct bn_err *err)
{
  return bn_err_set(err, BN_ERR_OPTION, "--%s=%llu: there are %zu hosts, and each needs at least 1",
                    option, (unsigned long long)value, hosts);
}

/* Gives each host the number of threads after its name.  The `unnumbered` other hosts share the
   `remaining` threads: if these cannot be divided evenly, the first of the hosts get one more.
   Returns false if a host has too many threads. */
static bool work_split_share_threads(const struct bn_work_split_list *list, uint64_t remaining,
                                     unsigned unnumbered, struct bn_work_split *out)
{
  unsigned served = 0; /* how many hosts without a number have got their threads */

  for (size_t i = 0; i < list->n; i++) {
    out[i].threads = list->host[i].threads;
    if (out[i].threads == 0) {
      const unsigned one_more = served < remaining % unnumbered ? 1 : 0;

      out[i].threads = (unsigned)(remaining / unnumbered) + one_more;
      served++;
    }
    if (out[i].threads > BN_WORK_SPLIT_THREADS)
      return false;
  }
  return true;
}

/* Divides --threads-total.  Returns 0, or -1 and err if a host would get too many threads or none,
   or if all hosts have numbers that do not add up to the total. */
static int work_split_divide_threads(const struct bn_work_split_list *list, unsigned total,
                                     struct bn_work_split *out, struct bn_err *err)
{
  uint64_t numbered = 0;   /* the threads of the hosts with a number */
  unsigned unnumbered = 0; /* how many hosts have no number */
  bool fits;

  for (size_t i = 0; i < list->n; i++) {
    numbered += list->host[i].threads;
    unnumbered += list->host[i].threads == 0;
  }
  if (numbered == 0 && total < unnumbered)
    return work_split_refuse_too_few("threads-total", total, unnumbered, err);
  /* Each host without a number gets at least 1.  Without such a host, nothing may remain. */
  fits = unnumbered > 0 ? total >= numbered + unnumbered : total == numbered;
  if (!fits)
    return bn_err_set(err, BN_ERR_OPTION,
                      "--threads-total=%u: cannot be divided; threads in the list: %llu, hosts "
                      "without a number: %u",
                      total, (unsigned long long)numbered, unnumbered);
  if (work_split_share_threads(list, total - numbered, unnumbered, out))
    return 0;
  return bn_err_set(err, BN_ERR_OPTION, "--threads-total=%u: a host has at most %d threads", total,
                    BN_WORK_SPLIT_THREADS);
}

/* Returns total * part / all, rounded down.  part is not greater than all, so that it fits. */
static uint64_t work_split_scale(uint64_t total, uint64_t part, uint64_t all)
{
  return (uint64_t)((unsigned __int128)total * part / all);
}

static size_t work_split_find_greatest(const uint64_t *part, size_t n)
{
  size_t greatest = 0;

  for (size_t i = 1; i < n; i++)
    if (part[i] > part[greatest])
      greatest = i;
  return greatest;
}

/* Divides total, which is 0 or at least n, in proportion to the threads of the n hosts, which have
   all_threads together. */
static void work_split_divide_integer(uint64_t total, const struct bn_work_split *share, size_t n,
                                      uint64_t all_threads, uint64_t *out)
{
  /* What is due to all hosts up to this one, less what is due to those before it.  Both running
     sums are rounded down, so that the parts add up. */
  for (size_t i = 0; i < n; i++) {
    const uint64_t before = share[i].first_session;

    out[i] = work_split_scale(total, before + share[i].threads, all_threads) -
             work_split_scale(total, before, all_threads);
  }
  /* A host with 0 takes 1 from the host that has most, which has more than 1: total >= n. */
  for (size_t i = 0; total > 0 && i < n; i++) {
    if (out[i] > 0)
      continue;
    out[work_split_find_greatest(out, n)]--;
    out[i] = 1;
  }
}

/* Refuses a limit or a rate that is less than the number of hosts.  Returns 0, or -1 and err. */
static int work_split_check_integer(const char *option, uint64_t value, size_t hosts,
                                    struct bn_err *err)
{
  if (value == 0 /* none */ || value >= hosts)
    return 0;
  return work_split_refuse_too_few(option, value, hosts, err);
}

/* Divides the rate in proportion to the threads of the n hosts, which have all_threads together. */
static void work_split_divide_rate(const struct bn_work_split_total *total,
                                   struct bn_work_split *share, size_t n, uint64_t all_threads)
{
  uint64_t part[BN_WORK_SPLIT_HOSTS];

  if (total->integer_rate) {
    work_split_divide_integer((uint64_t)total->rate, share, n, all_threads, part);
    for (size_t i = 0; i < n; i++)
      share[i].rate = (double)part[i];
    return;
  }
  for (size_t i = 0; i < n; i++)
    share[i].rate = total->rate * ((double)share[i].threads / (double)all_threads);
}

/* Sets the events of each host: with --events-per-session, the events of all its threads, which are
   10^18 at most, and otherwise its part of --events. */
static void work_split_divide_events(const struct bn_work_split_total *total,
                                     struct bn_work_split *share, size_t n, uint64_t all_threads)
{
  const bool per_session = total->events_per_session != 0;
  uint64_t part[BN_WORK_SPLIT_HOSTS];

  if (!per_session)
    work_split_divide_integer(total->events, share, n, all_threads, part);
  for (size_t i = 0; i < n; i++) {
    share[i].per_session = per_session;
    share[i].events = per_session ? total->events_per_session * share[i].threads : part[i];
  }
}

/* Sets the threads of each host: the number after its name, or else --threads or its part of
   --threads-total.  Returns 0, or -1 and err. */
static int work_split_set_threads(const struct bn_work_split_list *list,
                                  const struct bn_work_split_total *total,
                                  struct bn_work_split *out, struct bn_err *err)
{
  if (total->threads_total > 0)
    return work_split_divide_threads(list, total->threads_total, out, err);
  for (size_t i = 0; i < list->n; i++)
    out[i].threads = list->host[i].threads > 0 ? list->host[i].threads : total->threads;
  return 0;
}

int bn_work_split_divide(const struct bn_work_split_list *list,
                         const struct bn_work_split_total *total, struct bn_work_split *out,
                         uint64_t *sessions, struct bn_err *err)
{
  uint64_t all_threads = 0;

  memset(out, 0, list->n * sizeof *out);
  if (work_split_set_threads(list, total, out, err) != 0)
    return -1;
  if (work_split_check_integer("events", total->events, list->n, err) != 0 ||
      (total->integer_rate &&
       work_split_check_integer("rate", (uint64_t)total->rate, list->n, err) != 0))
    return -1;
  for (size_t i = 0; i < list->n; i++) {
    out[i].first_session = all_threads;
    all_threads += out[i].threads;
  }
  if (all_threads > BN_WORK_SPLIT_THREADS)
    return bn_err_set(err, BN_ERR_OPTION,
                      "--threads: the hosts have %llu threads together; allowed: up to %d",
                      (unsigned long long)all_threads, BN_WORK_SPLIT_THREADS);
  work_split_divide_events(total, out, list->n, all_threads);
  work_split_divide_rate(total, out, list->n, all_threads);
  *sessions = all_threads;
  return 0;
}
