/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cpu test: an event counts the primes below --cpu-max-prime by trial division. */
#include "base/log.h"
#include "measure/facts.h"
#include "tests/cpu_kernel.h"
#include "tests/tests.h"

struct cpu_conf {
  int64_t max_prime;
};

static const struct bn_opt cpu_options[] = {
    {.name = "cpu-max-prime",
     .type = BN_INT,
     .in = BN_IN_ALL,
     .def = "10000",
     .offset = offsetof(struct cpu_conf, max_prime),
     .min = 1,
     .max = INT32_MAX,
     .range_text = "Invalid value of cpu-max-prime: %s.",
     .help = "upper limit of the search for primes"},
    BN_OPT_END,
};

static void cpu_describe(const void *self, struct bn_facts *f)
{
  const struct cpu_conf *conf = self;

  bn_facts_add_row(f, BN_INFO, "Doing CPU performance benchmark\n\n");
  bn_facts_add_row(f, BN_NOTICE, "Prime numbers limit: %lld\n\n", (long long)conf->max_prime);
}

static enum bn_next cpu_event(void *self, struct bn_session *s)
{
  const struct cpu_conf *conf = self;
  /* The result is not used, but the work must not be optimised away. */
  const volatile uint64_t found = bn_cpu_count_primes((uint64_t)conf->max_prime);

  (void)found;
  (void)s;
  return BN_CONTINUE;
}

const struct bn_workload bn_workload_cpu = {
    .name = "cpu",
    .title = "CPU performance test",
    .kind = BN_KIND_CPU,
    .options = cpu_options,
    .conf_size = sizeof(struct cpu_conf),
    .describe = cpu_describe,
    .event = cpu_event,
};
