/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of the memory test: declares and checks them and computes the work of a run. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "option/opt.h"
#include "tests/memory.h"
#include "tests/memory_kernel.h"

const struct bn_opt bn_memory_options[] = {
    {.name = "memory-block-size",
     .type = BN_SIZE,
     .in = BN_IN_ALL,
     .def = "1K",
     .offset = offsetof(struct bn_memory_conf, block_size),
     .typed = offsetof(struct bn_memory_conf, typed_block_size),
     .range_text = "Invalid value for memory-block-size: %s",
     .help = "size of a block, a power of 2 from 8"},
    {.name = "memory-total-size",
     .type = BN_SIZE,
     .in = BN_IN_ALL,
     .def = "100G",
     .offset = offsetof(struct bn_memory_conf, total_size),
     .help = "bytes of all threads together; 0: no limit"},
    {.name = "memory-scope",
     .type = BN_STRING,
     .in = BN_IN_ALL,
     .def = "global",
     .offset = offsetof(struct bn_memory_conf, scope),
     .help = "one block for all threads (global), or one per thread (local)"},
    {.name = "memory-hugetlb",
     .type = BN_BOOL,
     .in = BN_IN_ALL,
     .def = "off",
     .offset = offsetof(struct bn_memory_conf, hugetlb),
     .help = "blocks in huge pages"},
    {.name = "memory-oper",
     .type = BN_STRING,
     .in = BN_IN_ALL,
     .def = "write",
     .offset = offsetof(struct bn_memory_conf, oper),
     .help = "operation: read, write, none, latency"},
    {.name = "memory-access-mode",
     .type = BN_STRING,
     .in = BN_IN_ALL,
     .def = "seq",
     .offset = offsetof(struct bn_memory_conf, mode),
     .help = "order of the words: seq, rnd"},
    {.name = "memory-kernel",
     .type = BN_STRING,
     .def = "word",
     .offset = offsetof(struct bn_memory_conf, kernel),
     .help = "work of a pass: word, a STREAM kernel or vectors"},
    {.name = "memory-numa",
     .type = BN_STRING,
     .def = NULL,
     .form = "=local|interleave|NODE",
     .offset = offsetof(struct bn_memory_conf, numa),
     .help = "NUMA nodes of the blocks"},
    BN_OPT_END,
};

/* Returns the text of an option as messages show it, "" for NULL: an option without a default. */
static const char *memory_text_or_empty(const char *text)
{
  return text != NULL ? text : "";
}

/* Refuses a word that is not allowed.  message: the words of dialects (bn_opt_refuse).  Returns
   -1. */
static int memory_refuse_word(const struct bn_memory *m, const char *name, const char *word,
                              const char *allowed, const char *message, struct bn_err *err)
{
  return bn_opt_refuse(m->run_conf->policy,
                       &(struct bn_opt_refusal){.name = name,
                                                .value = memory_text_or_empty(word),
                                                .wrong = "unknown",
                                                .allowed = allowed},
                       message, err);
}

/* Refuses a size that has to be at least `least` bytes.  Returns -1. */
static int memory_refuse_size(const struct bn_memory *m, const char *name, uint64_t size,
                              uint64_t least, const char *reason, const char *message,
                              struct bn_err *err)
{
  char value[32], allowed[64];

  (void)snprintf(value, sizeof value, "%llu", (unsigned long long)size);
  (void)snprintf(allowed, sizeof allowed, "%llu or more bytes", (unsigned long long)least);
  return bn_opt_refuse(
      m->run_conf->policy,
      &(struct bn_opt_refusal){.name = name, .value = value, .wrong = reason, .allowed = allowed},
      message, err);
}

/* Returns the bytes of the smallest block that the work can be done on. */
static uint64_t memory_min_block_size(const struct bn_memory *m)
{
  switch (m->work) {
  case BN_MEMORY_WORDS:
    break;
  case BN_MEMORY_VECTORS:
    return (uint64_t)BN_VECTOR_LINE * (m->local ? 1 : m->run_conf->plan.threads);
  case BN_MEMORY_LOADS:
    return BN_CHASE_LINE;
  }
  return sizeof(bn_memory_word);
}

enum { SHORT_WORD = 4 }; /* bytes of a word of 0.5 */

/* Checks that the work can be done on blocks of this size.  Returns 0, or -1 and err. */
static int memory_check_block(const struct bn_memory *m, struct bn_err *err)
{
  const uint64_t size = m->conf->block_size, least = memory_min_block_size(m);
  const bool is_power_of_two = (size & (size - 1)) == 0; /* it has one bit, or none */
  char message[128];

  if (m->short_words) {
    if (size != 0 && size % SHORT_WORD == 0)
      return 0;
    (void)bn_err_set(err, 0, "memory-block-size must be a multiple of 4!");
    return -1; /* the analyser does not know that bn_err_set() returns this */
  }
  if (size < sizeof(bn_memory_word) || !is_power_of_two)
    return bn_opt_refuse(
        m->run_conf->policy,
        &(struct bn_opt_refusal){.name = "memory-block-size",
                                 .value = memory_text_or_empty(m->conf->typed_block_size),
                                 .wrong = "not a power of two",
                                 .allowed = "powers of two from 8 bytes"},
        "Invalid value for memory-block-size: %s", err);
  if (size >= least)
    return 0;
  (void)snprintf(message, sizeof message,
                 "--memory-block-size=%llu is too small for that: at least %llu bytes",
                 (unsigned long long)size, (unsigned long long)least);
  return memory_refuse_size(m, "memory-block-size", size, least, "too small", message, err);
}

/* Returns n * size, or the largest number if that does not fit: such a block is refused later. */
static uint64_t memory_multiply(uint64_t size, uint64_t n)
{
  return size <= UINT64_MAX / n ? n * size : UINT64_MAX;
}

/* Returns the bytes that are accessed in a pass of a single session, or of all (each_does_all). */
static uint64_t memory_bytes_of_pass(const struct bn_memory *m)
{
  switch (m->work) {
  case BN_MEMORY_WORDS:
    break;
  case BN_MEMORY_VECTORS:
    return memory_multiply(m->conf->block_size, m->vector->reads + m->vector->writes);
  case BN_MEMORY_LOADS:
    return BN_CHASE_LOADS * sizeof(void *);
  }
  return m->conf->block_size;
}

/* Refuses a total that has no room for a pass of `pass` bytes.  Returns -1. */
static int memory_refuse_total_size(const struct bn_memory *m, uint64_t pass, struct bn_err *err)
{
  const uint64_t total = m->conf->total_size;
  const bool of_words = m->work == BN_MEMORY_WORDS;
  const uint64_t needed = of_words ? m->conf->block_size : pass;
  char reason[80], message[200];

  (void)snprintf(reason, sizeof reason,
                 of_words ? "less than one block of %llu bytes"
                          : "less than the %llu bytes of one event",
                 (unsigned long long)needed);
  (void)snprintf(message, sizeof message, "--memory-total-size=%llu is %s: raise it%s",
                 (unsigned long long)total, reason,
                 of_words ? ", or lower --memory-block-size" : "");
  return memory_refuse_size(m, "memory-total-size", total, needed, reason, message, err);
}

/* Computes the number of passes of all threads.  A total without room for a pass is refused,
   because it would end the run at once without a message.  Returns 0, or -1 and err. */
static int memory_count_passes(struct bn_memory *m, struct bn_err *err)
{
  const uint64_t total = m->conf->total_size, pass = memory_bytes_of_pass(m);

  m->passes = total / pass;
  if (m->short_words) {
    /* In 0.5, the last block of the total is complete. */
    m->passes += total % pass != 0;
    return 0;
  }
  m->each_does_all = m->work == BN_MEMORY_VECTORS && !m->local;
  if (total == 0 || m->passes > 0)
    return 0;
  return memory_refuse_total_size(m, pass, err);
}

/* Makes an event a pass over words.  In sysbench 0.5, which has short words, random access without
   an operation fails at the first event (no_request). */
static void memory_choose_words(struct bn_memory *m, enum bn_memory_oper oper,
                                enum bn_memory_mode mode)
{
  static const unsigned counters[] = {[BN_MEMORY_READ] = BN_C_BYTES_READ,
                                      [BN_MEMORY_WRITE] = BN_C_BYTES_WRITTEN,
                                      [BN_MEMORY_NONE] = BN_MEMORY_BYTES_UNTOUCHED};
  const struct bn_policy *policy = m->run_conf->policy;

  m->work = BN_MEMORY_WORDS;
  m->no_request = policy->memory_short_words && oper == BN_MEMORY_NONE && mode == BN_MEMORY_RND;
  m->kernel = bn_memory_kernel_get(policy->memory_uniform_only, oper, mode, m->run_conf->dist.type);
  m->bytes_counter = counters[oper];
}

/* Makes an event a pass of --memory-kernel.  The kernel decides on the operation and the order, so
   --memory-oper and --memory-access-mode are refused unless they have their defaults.  Returns 0,
   or -1 and err. */
static int memory_choose_vectors(struct bn_memory *m, int oper, int mode, struct bn_err *err)
{
  m->work = BN_MEMORY_VECTORS;
  m->vector = bn_vector_find(memory_text_or_empty(m->conf->kernel), bn_vector_features(), err);
  if (m->vector == NULL && err->code == BN_ERR_OPTION)
    return memory_refuse_word(m, "memory-kernel", m->conf->kernel,
                              "word, copy, scale, add, triad, avx-read, avx-write, nt-write",
                              "Invalid value for memory-kernel: %s", err);
  if (m->vector == NULL) /* the processor lacks AVX */
    return -1;
  if (oper != BN_MEMORY_WRITE || mode != BN_MEMORY_SEQ)
    return bn_opt_refuse(
        m->run_conf->policy,
        &(struct bn_opt_refusal){.name = "memory-kernel",
                                 .value = m->conf->kernel,
                                 .wrong = "cannot be used with --memory-oper or "
                                          "--memory-access-mode"},
        "--memory-kernel=%s says itself what is done, in order: leave --memory-oper "
        "and --memory-access-mode out",
        err);
  return 0;
}

/* Makes an event a chain of loads.  The chain decides on the order, so --memory-access-mode is
   refused unless it has its default.  Returns 0, or -1 and err. */
static int memory_choose_loads(struct bn_memory *m, int mode, struct bn_err *err)
{
  m->work = BN_MEMORY_LOADS;
  if (mode == BN_MEMORY_SEQ)
    return 0;
  return bn_opt_refuse(
      m->run_conf->policy,
      &(struct bn_opt_refusal){.name = "memory-oper",
                               .value = "latency",
                               .wrong = "cannot be used with --memory-access-mode"},
      "--memory-oper=latency goes its own random way: leave --memory-access-mode out", err);
}

/* Reads the words that decide what an event does and on which blocks.  Returns 0, or -1 and err. */
static int memory_choose_work(struct bn_memory *m, struct bn_err *err)
{
  enum { SCOPE_LOCAL = 1, OPER_LATENCY = BN_MEMORY_NONE + 1 };
  static const char *const scopes[] = {"global", [SCOPE_LOCAL] = "local", NULL};
  static const char *const opers[] = {[BN_MEMORY_READ] = "read",
                                      [BN_MEMORY_WRITE] = "write",
                                      [BN_MEMORY_NONE] = "none",
                                      [OPER_LATENCY] = "latency",
                                      NULL};
  static const char *const modes[] = {[BN_MEMORY_SEQ] = "seq", [BN_MEMORY_RND] = "rnd", NULL};
  const int scope = bn_near_find(scopes, m->conf->scope);
  const int oper = bn_near_find(opers, m->conf->oper);
  const int mode = bn_near_find(modes, m->conf->mode);

  if (scope < 0)
    return memory_refuse_word(m, "memory-scope", m->conf->scope, "global, local",
                              "Invalid value for memory-scope: %s", err);
  if (oper < 0)
    return memory_refuse_word(m, "memory-oper", m->conf->oper, "read, write, none, latency",
                              "Invalid value for memory-oper: %s", err);
  if (mode < 0)
    return memory_refuse_word(m, "memory-access-mode", m->conf->mode, "seq, rnd",
                              "Invalid value for memory-access-mode: %s", err);
  m->local = scope == SCOPE_LOCAL;
  if (strcmp(memory_text_or_empty(m->conf->kernel), "word") != 0)
    return memory_choose_vectors(m, oper, mode, err);
  if (oper == OPER_LATENCY)
    return memory_choose_loads(m, mode, err);
  memory_choose_words(m, (enum bn_memory_oper)oper, (enum bn_memory_mode)mode);
  return 0;
}

/* Reads --memory-numa.  Returns 0, or -1 and err. */
static int memory_read_placement(struct bn_memory *m, struct bn_err *err)
{
  if (bn_area_read_placement(&m->traits, m->conf->numa, err) == 0)
    return 0;
  if (err->code != BN_ERR_OPTION) /* err has no text for a wrong word */
    return -1;
  return memory_refuse_word(
      m, "memory-numa", m->conf->numa, "local, interleave, the number of a node",
      "Invalid value for --memory-numa: '%s' (local, interleave or the number of a node)", err);
}

int bn_memory_read_options(struct bn_memory *m, struct bn_err *err)
{
  m->traits.huge = m->conf->hugetlb;
  if (memory_choose_work(m, err) != 0)
    return -1;
  m->short_words = m->run_conf->policy->memory_short_words && m->work == BN_MEMORY_WORDS;
  if (memory_check_block(m, err) != 0 || memory_count_passes(m, err) != 0)
    return -1;
  return memory_read_placement(m, err);
}
