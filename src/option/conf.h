/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The general options as one struct, which is filled from the option set and constant in a run. */
#ifndef BN_OPTION_CONF_H
#define BN_OPTION_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/opt.h"
#include "api/plan.h"
#include "api/policy.h"
#include "base/clock.h"
#include "base/dist.h"
#include "base/err.h"
#include "option/profile.h"

struct bn_optset;

/* The shells of --completion. */
enum bn_shell { BN_SHELL_NONE, BN_SHELL_BASH, BN_SHELL_ZSH, BN_SHELL_FISH, BN_SHELLS };

/* The choices of --on-host-loss. */
enum bn_host_loss { BN_HOST_LOSS_ABORT, BN_HOST_LOSS_CONTINUE };

/* The choices of --arrivals. */
enum bn_gaps { BN_GAPS_POISSON, BN_GAPS_CONSTANT };

/* The choices of --on-thread-error. */
enum bn_thread_error { BN_THREAD_ERROR_ABORT, BN_THREAD_ERROR_CONTINUE };

/* Values as typed.  bn_conf_finish derives other values from some of them, and replaces those that
   a profile, --debug or the dialect decides; the rest is used as it is. */
struct bn_conf_raw {
  int64_t threads, events, events_per_session;
  bool events_given, time_given;
  int64_t workers, connect_at_once;
  double time_s, warmup_s, report_interval_s, thread_init_timeout_s, abort_on_assert_s;
  char *forced_shutdown, *time_grace;
  uint64_t thread_stack_size;
  double rate, reconnect_rate;
  char *rate_profile, *threads_profile;
  int64_t rate_max_backlog;
  int arrivals; /* enum bn_gaps */
  char *think_time;
  struct bn_list report_checkpoints, percentile, reports, asserts, watch, labels, groups;
  bool quiet;
  int64_t verbosity;
  char *luajit_cmd, *test, *config_file, *compat;
  char *hosts, *hosts_file, *hosts_shell, *hosts_program;
  int64_t threads_total;
  int on_host_loss;    /* enum bn_host_loss */
  int on_thread_error; /* enum bn_thread_error */
  bool help, version, help_man, help_traits;
  int completion; /* enum bn_shell */
  int clock;      /* enum bn_clock_choice */
  int rand_type;  /* enum bn_dist_type */
  int64_t rand_spec_iter, rand_spec_pct, rand_spec_res;
  double rand_pareto_h, rand_zipfian_exp;
};

/* The tables of options have offsets in `raw` and in `plan`; all other members are derived.  0
   means "none" or "unlimited" for limits and intervals. */
struct bn_conf {
  struct bn_conf_raw raw;
  const struct bn_policy *policy; /* of the dialect; outlives the configuration */
  struct bn_plan plan;            /* without its seed and metrics */
  bool grace_auto;                /* --time-grace=auto: grace_ns is not used */
  uint64_t grace_ns;              /* --time-grace */
  uint64_t init_timeout_ns;       /* --thread-init-timeout */
  unsigned workers;               /* OS threads that drive the sessions, at most plan.threads */
  unsigned connect_at_once;       /* sessions that a worker opens at the same time */
  uint64_t seed;                  /* streams are derived from it; entropy when none was given */
  struct bn_dist dist;
  struct bn_delay think;     /* --think-time */
  struct bn_profile profile; /* --rate-profile or --threads-profile; owned: see bn_conf_done */
};

/* The groups of the general options.  The first two are one group to users, but 0.5 lists the
   options of random numbers between them; the last two are one too, but the help aligns each by
   itself. */
#define BN_GROUP_GENERAL "General options"
#define BN_GROUP_FILE    "General options, continued"
#define BN_GROUP_RAND    "Pseudo-Random Numbers Generator options"
#define BN_GROUP_LOG     "Log options"
#define BN_GROUP_LATENCY "Log options, latency"

/* Adds all general options to the set, with their values in c.  Returns 0, or -1 and err. */
int bn_conf_add_options(struct bn_conf *c, struct bn_optset *s, struct bn_err *err);

/* Returns the general option of that name, or NULL. */
const struct bn_opt *bn_conf_find_option(const char *name);

/* Returns a set of the general options alone, for c's policy, or NULL and err.  The caller frees it
   with bn_optset_free. */
struct bn_optset *bn_conf_new_options(struct bn_conf *c, struct bn_err *err);

struct bn_optset_fault;
/* Derives all but `raw` from the options, which have been parsed; c's policy is set.  Warnings are
   logged.  Returns 0, or another number and the first fault, in the order of sysbench. */
int bn_conf_finish(struct bn_conf *c, const struct bn_optset *s, struct bn_optset_fault *fault);

/* The options that divide a run into phases; ends with NULL. */
extern const char *const bn_conf_profiles[];
/* Options that cannot be used together; the last pair has no names. */
struct bn_conf_pair {
  const char *name, *other;
  const char *why; /* follows "--NAME cannot be used with --OTHER" in the message */
};
extern const struct bn_conf_pair bn_conf_exclusions[];
/* Returns whether an option of these pairs has a value that counts: neither 0 nor an empty text. */
bool bn_conf_uses(const struct bn_conf *c, const char *option);
/* Returns the option that makes events due, for messages: "--rate=100" in `text`, or
   "--rate-profile". */
enum { BN_CONF_RATE = 40 };
const char *bn_conf_format_rate(const struct bn_conf *c, char text[BN_CONF_RATE]);

/* Returns whether sessions may pause between their events. */
bool bn_conf_has_pauses(const struct bn_conf *c);

/* Frees what bn_conf_finish has allocated; the values are the option set's. */
void bn_conf_done(struct bn_conf *c);

/* Returns whether --hosts or --hosts-file is given. */
bool bn_conf_lists_hosts(const struct bn_conf *c);

/* Returns the limit of events of a run that has `threads` threads on all its hosts together; 0: the
   run has none. */
uint64_t bn_conf_get_event_limit(const struct bn_conf *c, uint64_t threads);

#endif
