/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses /proc/stat, /proc/meminfo and /proc/net/dev. */
#include "watch/proc.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "measure/kernel.h"

/* The key with which a line begins, and the count that follows the key. */
struct key_count {
  const char *key; /* with the character after it, because another key may begin with it */
  enum bn_host_count count;
};

/* The units of the numbers in a file. */
enum { ONE = 1, KIB = 1024 };

/* Parses the numbers, at most n, with which a text begins.  Returns how many it has parsed. */
static size_t proc_parse_numbers(const char *text, uint64_t *number, size_t n)
{
  const char *digits = text + strspn(text, " \t");
  size_t i = 0;

  for (; i < n && isdigit((unsigned char)*digits); i++) {
    char *end;

    number[i] = strtoull(digits, &end, 10);
    digits = end + strspn(end, " \t");
  }
  return i;
}

/* Parses the number after the key with which a line begins.  Returns false, and leaves *number, if
   the line begins otherwise or has no number there. */
static bool proc_parse_key(const char *line, const char *key, uint64_t *number)
{
  const size_t len = strlen(key);

  return strncmp(line, key, len) == 0 && proc_parse_numbers(line + len, number, 1) == 1;
}

/* Sets the count of the key with which a line begins to the number after the key, times `unit`.
   Does nothing with a line that begins with no key or has no number. */
static void proc_parse_line(const char *line, const struct key_count *keys, size_t n_keys,
                            uint64_t unit, uint64_t *value)
{
  uint64_t number;

  for (size_t i = 0; i < n_keys; i++)
    if (proc_parse_key(line, keys[i].key, &number)) {
      value[keys[i].count] = number * unit;
      return;
    }
}

/* Parses "cpu  user nice system idle iowait irq softirq steal guest guest_nice".  Does nothing with
   another line. */
static void proc_parse_times(const char *line, uint64_t *value)
{
  static const enum bn_host_count counts[] = {BN_HOST_USER,    BN_HOST_NICE,   BN_HOST_SYSTEM,
                                              BN_HOST_IDLE,    BN_HOST_IOWAIT, BN_HOST_IRQ,
                                              BN_HOST_SOFTIRQ, BN_HOST_STEAL};
  static const char key[] = "cpu ";
  enum { TIMES = sizeof counts / sizeof *counts };
  uint64_t number[TIMES];

  if (strncmp(line, key, strlen(key)) != 0 ||
      proc_parse_numbers(line + strlen(key), number, TIMES) < TIMES)
    return;
  for (size_t i = 0; i < TIMES; i++)
    value[counts[i]] = number[i];
}

void bn_proc_parse_stat(const char *text, uint64_t value[BN_HOST_COUNTS])
{
  static const struct key_count keys[] = {{"ctxt ", BN_HOST_SWITCHES},
                                          {"intr ", BN_HOST_INTERRUPTS},
                                          {"processes ", BN_HOST_FORKS},
                                          {"procs_running ", BN_HOST_RUNNING},
                                          {"procs_blocked ", BN_HOST_BLOCKED}};

  for (; *text != '\0'; text = bn_kernel_next_line(text)) {
    proc_parse_times(text, value);
    proc_parse_line(text, keys, sizeof keys / sizeof *keys, ONE, value);
  }
}

void bn_proc_parse_meminfo(const char *text, uint64_t value[BN_HOST_COUNTS])
{
  static const struct key_count keys[] = {{"MemAvailable:", BN_HOST_AVAILABLE},
                                          {"Cached:", BN_HOST_CACHED},
                                          {"Dirty:", BN_HOST_DIRTY},
                                          {"Writeback:", BN_HOST_WRITEBACK}};
  uint64_t total = 0, free = 0;
  bool has_free = false;

  for (; *text != '\0'; text = bn_kernel_next_line(text)) {
    proc_parse_line(text, keys, sizeof keys / sizeof *keys, KIB, value);
    (void)proc_parse_key(text, "SwapTotal:", &total);
    if (proc_parse_key(text, "SwapFree:", &free))
      has_free = true;
  }
  /* The two lines are not of the same instant, so that the free part may exceed the whole. */
  if (has_free && free <= total)
    value[BN_HOST_SWAP_USED] = (total - free) * KIB;
}

/* The numbers in the line of an interface: eight of received data, then eight of sent data.  The
   first two of each eight, the bytes and the packets, count. */
enum { BYTES, PACKETS, COUNTED, SENT = 8, NUMBERS = SENT + COUNTED };

/* Parses the line of an interface, "  eth0: " and its numbers.  Returns the name of the interface,
   with all that follows it; or NULL if the line is another one, such as a heading. */
static const char *proc_parse_interface(const char *line, uint64_t number[NUMBERS])
{
  const char *name = line + strspn(line, " \t"), *colon = strpbrk(name, ":\n");

  if (colon == NULL || *colon != ':' || proc_parse_numbers(colon + 1, number, NUMBERS) < NUMBERS)
    return NULL;
  return name;
}

void bn_proc_parse_net(const char *text, uint64_t value[BN_HOST_COUNTS])
{
  static const char loopback[] = "lo:";
  uint64_t received[COUNTED] = {0}, sent[COUNTED] = {0}, number[NUMBERS];
  bool has_interface = false;

  for (; *text != '\0'; text = bn_kernel_next_line(text)) {
    const char *name = proc_parse_interface(text, number);

    if (name == NULL)
      continue;
    has_interface = true;
    if (strncmp(name, loopback, strlen(loopback)) == 0) {
      value[BN_HOST_LOOPBACK] = number[SENT + BYTES]; /* which it receives, too */
      continue;
    }
    for (size_t i = 0; i < COUNTED; i++) {
      received[i] += number[i];
      sent[i] += number[SENT + i];
    }
  }
  if (!has_interface)
    return;
  value[BN_HOST_RECEIVED] = received[BYTES];
  value[BN_HOST_RECEIVED_PACKETS] = received[PACKETS];
  value[BN_HOST_SENT] = sent[BYTES];
  value[BN_HOST_SENT_PACKETS] = sent[PACKETS];
}
