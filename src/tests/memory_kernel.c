/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inner loops of the memory test, unrolled to eight words where sysbench unrolls them, and the
   random cycle of pointers that --memory-oper=latency follows. */
#include "tests/memory_kernel.h"

#include <stdbool.h>

static inline uint64_t memory_kernel_load(const bn_memory_word *w)
{
  return atomic_load_explicit(w, memory_order_relaxed);
}

static inline void memory_kernel_store(bn_memory_word *w, uint64_t v)
{
  atomic_store_explicit(w, v, memory_order_relaxed);
}

/* Keeps an iteration that accesses no word: the compiler cannot remove the fence. */
static inline void memory_kernel_keep_iteration(void)
{
  atomic_signal_fence(memory_order_seq_cst);
}

/* Executes ACTION with each word in turn, eight per iteration as in sysbench; the words after the
   last eight come one by one.  ACTION may use `end`, the address past the last word. */
#define EACH_WORD(ACTION)                                                                          \
  do {                                                                                             \
    const bn_memory_word *const end = job->word + job->n, *const rounds_end = end - job->n % 8;    \
                                                                                                   \
    for (; word != rounds_end; word += 8) {                                                        \
      ACTION(word);                                                                                \
      ACTION(word + 1);                                                                            \
      ACTION(word + 2);                                                                            \
      ACTION(word + 3);                                                                            \
      ACTION(word + 4);                                                                            \
      ACTION(word + 5);                                                                            \
      ACTION(word + 6);                                                                            \
      ACTION(word + 7);                                                                            \
    }                                                                                              \
    for (; word != end; word++)                                                                    \
      ACTION(word);                                                                                \
  } while (0)

static void memory_read_seq(const struct bn_memory_job *job)
{
  const bn_memory_word *word = job->word;

#define READ(w) (void)memory_kernel_load(w)
  EACH_WORD(READ);
#undef READ
}

/* Writes the number of the session to each word, as sysbench 1.1. */
static void memory_write_seq(const struct bn_memory_job *job)
{
  bn_memory_word *word = job->word;
  const uint64_t tid = job->tid;

#define WRITE(w) memory_kernel_store(w, tid)
  EACH_WORD(WRITE);
#undef WRITE
}

/* Writes to each word how many words there are from it to the end.  As in sysbench 1.0, that is
   computed anew for every word from two pointers, so that a subtraction and a shift between two
   stores are part of the measured time. */
static void memory_write_remaining_seq(const struct bn_memory_job *job)
{
  bn_memory_word *word = job->word;

#define REMAINING(w) memory_kernel_store(w, (uint64_t)(end - (w)))
  EACH_WORD(REMAINING);
#undef REMAINING
}

/* Iterates over the words without an access to memory, as --memory-oper=none does in 1.0. */
static void memory_none_seq(const struct bn_memory_job *job)
{
  const bn_memory_word *word = job->word;

#define NONE(w) memory_kernel_keep_iteration()
  EACH_WORD(NONE);
#undef NONE
}

/* Returns a + U * (b - a + 1), U from the upper 52 bits: the arithmetic that sysbench times. */
static inline uint64_t memory_kernel_draw_between(struct bn_rng *rng, uint64_t a, uint64_t b)
{
  enum { FRACTION_BITS = 52 }; /* of a double */
  const uint64_t one_bits = UINT64_C(0x3ff) << FRACTION_BITS;
  const union {
    uint64_t bits;
    double number;
  } u = {.bits = one_bits | bn_rng_next(rng) >> (64 - FRACTION_BITS)}; /* 1 + U */

  return (uint64_t)((double)a + (u.number - 1) * (double)(b - a + 1));
}

/* Returns the index of a random word, each as likely as any other. */
static inline size_t memory_kernel_draw_uniform(const struct bn_memory_job *job, struct bn_rng *rng)
{
  return (size_t)memory_kernel_draw_between(rng, 0, job->n - 1);
}

/* Returns the index of a random word by the distribution of --rand-type. */
static inline size_t memory_kernel_draw_by_type(const struct bn_memory_job *job, struct bn_rng *rng)
{
  return (size_t)bn_dist_default(job->dist, rng, 0, job->n - 1);
}

/* Defines a loop over as many random words as the block has.  The fence is that of sysbench: it
   makes the state of the generator go through memory for every draw, which costs 1.65 ns instead of
   1.2 ns in registers. */
#define RANDOM(NAME, ACTION)                                                                       \
  static void NAME(const struct bn_memory_job *job)                                                \
  {                                                                                                \
    struct bn_rng *const rng = job->rng;                                                           \
                                                                                                   \
    for (size_t remaining = job->n; remaining > 0; remaining--) {                                  \
      ACTION;                                                                                      \
      memory_kernel_keep_iteration();                                                              \
    }                                                                                              \
  }

RANDOM(memory_read_uniform,
       (void)memory_kernel_load(&job->word[memory_kernel_draw_uniform(job, rng)]))
RANDOM(memory_write_remaining_uniform,
       memory_kernel_store(&job->word[memory_kernel_draw_uniform(job, rng)], remaining))
RANDOM(memory_write_uniform,
       memory_kernel_store(&job->word[memory_kernel_draw_uniform(job, rng)], job->tid))
RANDOM(memory_none_uniform, (void)memory_kernel_draw_uniform(job, rng))
RANDOM(memory_read_by_type,
       (void)memory_kernel_load(&job->word[memory_kernel_draw_by_type(job, rng)]))
RANDOM(memory_write_by_type,
       memory_kernel_store(&job->word[memory_kernel_draw_by_type(job, rng)], job->tid))
RANDOM(memory_none_by_type, (void)memory_kernel_draw_by_type(job, rng))

bn_memory_kernel bn_memory_kernel_get(bool uniform_only, enum bn_memory_oper oper,
                                      enum bn_memory_mode mode, enum bn_dist_type type)
{
  /* Versions of sysbench, which write different words.  V10: also 0.5; V11: also outside of the
     dialects. */
  enum { V10, V11 };
  static const bn_memory_kernel in_order[][3] = {
      [V10] = {memory_read_seq, memory_write_remaining_seq, memory_none_seq},
      [V11] = {memory_read_seq, memory_write_seq, memory_none_seq}};
  static const bn_memory_kernel uniform[][3] = {
      [V10] = {memory_read_uniform, memory_write_remaining_uniform, memory_none_uniform},
      [V11] = {memory_read_uniform, memory_write_uniform, memory_none_uniform}};
  static const bn_memory_kernel distributed[3] = {memory_read_by_type, memory_write_by_type,
                                                  memory_none_by_type};
  const int version = uniform_only ? V10 : V11;
  const bool is_uniform = uniform_only || type == BN_DIST_UNIFORM;

  if (mode == BN_MEMORY_SEQ)
    return in_order[version][oper];
  return is_uniform ? uniform[version][oper] : distributed[oper];
}

/* A cache line of a block, and the pointer in it to the next one of the cycle. */
struct chase_line {
  const struct chase_line *next;
  char unused[BN_CHASE_LINE - sizeof(const struct chase_line *)];
};

/* Inserts every line after a random earlier one, which makes each of the (n - 1)! cycles of n lines
   in exactly one way, so that all are equally likely. */
void bn_chase_link(void *at, size_t from, size_t to, struct bn_rng *rng)
{
  struct chase_line *line = at;
  size_t i = from / sizeof *line;

  if (i == 0)
    line[i++].next = line; /* a cycle of one line */
  for (; i < to / sizeof *line; i++) {
    struct chase_line *other = &line[bn_rng_below(rng, i)];

    line[i].next = other->next;
    other->next = &line[i];
  }
}

const void *bn_chase_follow(const void *at)
{
  enum { UNROLLED = 8 }; /* loads per iteration, so that the loop itself costs little */
  _Static_assert(BN_CHASE_LOADS % UNROLLED == 0, "no loads are left after the last iteration");
  const struct chase_line *line = at;

  for (int i = 0; i < BN_CHASE_LOADS; i += UNROLLED)
    line = line->next->next->next->next->next->next->next->next;
  return line;
}
