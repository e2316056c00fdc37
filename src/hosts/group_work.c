/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and divides the work of a group. */
#include "hosts/group_work.h"

#include <string.h>

#include "base/buf.h"

/* Refuses the group for a fault of one of its options; `sentence` must not be err->text.  Returns
   -1. */
static int group_work_refuse(const struct bn_group_words *g, const char *sentence,
                             struct bn_err *err)
{
  return bn_err_set(err, BN_ERR_OPTION, "--group=%s: %s", g->name, sentence);
}

/* Sets an option if the set has it; an old name sets the option that it stands for.  `typed` is its
   word, for messages. */
static void group_work_set(struct bn_optset *set, const char *name, const char *value,
                           const char *typed)
{
  const struct bn_opt *o = bn_optset_find(set, name);

  if (o != NULL)
    (void)bn_optset_set(set, o->alias_of != NULL ? o->alias_of : name, value, typed);
}

/* Sets an option in the set `arg` if the user has given it outside of the groups. */
static void group_work_copy_option(void *arg, const struct bn_opt_fact *o)
{
  struct bn_buf typed = {.max = 0};

  if (o->origin == BN_FROM_DEFAULT || o->text == NULL)
    return;
  (void)bn_buf_printf(&typed, "--%s=%s", o->name, o->text);
  group_work_set(arg, o->name, o->text, typed.data);
  bn_buf_done(&typed);
}

/* Sets the options outside of the groups in `set`, which has the general options, and then the
   options of the group, which override them. */
static void group_work_set_options(const struct bn_group_words *g, const struct bn_optset *options,
                                   struct bn_optset *set)
{
  bn_optset_each_fact(options, group_work_copy_option, set);
  for (size_t i = 0; i < g->options.n; i++) {
    const char *word = g->options.item[i], *equals = strchr(word, '=');
    char name[BN_OPT_NAME_MAX];

    bn_opt_read_name(word, name);
    group_work_set(set, name, equals != NULL ? equals + 1 : NULL, word);
  }
}

int bn_group_work_check_profile(const struct bn_conf *conf, struct bn_err *err)
{
  if (bn_conf_uses(conf, "threads-profile"))
    return bn_err_set(err, BN_ERR_OPTION,
                      "--threads-profile=%.200s: cannot be used with --hosts: each host has "
                      "threads of its own; give each of several runs a profile",
                      conf->raw.threads_profile);
  if (conf->profile.has_trace)
    return bn_err_set(err, BN_ERR_OPTION,
                      "--rate-profile=%.200s: a trace cannot be used with --hosts, which do not "
                      "have its file; write its rates as phases",
                      conf->raw.rate_profile);
  return 0;
}

/* Refuses a profile of the group that several hosts cannot have.  An invalid profile passes,
   because the agents refuse it.  Returns 0, or -1 and err. */
static int group_work_check_own_profile(const struct bn_group_words *g, struct bn_conf *group_conf,
                                        struct bn_err *err)
{
  char fault[BN_PROFILE_WRONG]; /* not used */
  struct bn_err refusal = {0};

  if (bn_conf_uses(group_conf, "rate-profile"))
    (void)bn_profile_parse(group_conf->raw.rate_profile, BN_PROFILE_RATE, 0 /* lead_s */,
                           &group_conf->profile, fault);
  if (bn_group_work_check_profile(group_conf, &refusal) == 0)
    return 0;
  return group_work_refuse(g, refusal.text, err);
}

/* Refuses the group if an option in `set` has a wrong value or cannot be used.  `group_conf` has
   the values of these options.  Returns 0, or -1 and err. */
static int group_work_check_options(const struct bn_group_words *g, const struct bn_optset *set,
                                    bool is_here, struct bn_conf *group_conf, struct bn_err *err)
{
  struct bn_optset_fault fault;

  if (bn_optset_find_fault(set, &fault) ||
      bn_optset_find_unknown(set, true /* accept_any */, &fault))
    return group_work_refuse(g, fault.text, err);
  if (group_conf->raw.threads_total > 0 && bn_groups_find_value(g, set, "threads") != NULL)
    return group_work_refuse(g,
                             "--threads cannot be used with --threads-total, which takes its "
                             "place; leave one out, or write --threads-total=0 in this group",
                             err);
  return is_here ? 0 : group_work_check_own_profile(g, group_conf, err);
}

struct bn_group_work bn_group_work_get(const struct bn_conf *conf)
{
  const struct bn_conf_raw *r = &conf->raw;

  return (struct bn_group_work){.total = {.threads = (unsigned)r->threads,
                                          .threads_total = (unsigned)r->threads_total,
                                          .events = (uint64_t)r->events,
                                          .events_per_session = (uint64_t)r->events_per_session,
                                          .rate = r->rate,
                                          .integer_rate = conf->policy->loose_values},
                                .init_timeout_ns = (uint64_t)(r->thread_init_timeout_s * 1e9),
                                .on_thread_error = r->on_thread_error};
}

int bn_group_work_read(const struct bn_group_words *g, const struct bn_optset *options,
                       bool is_here, struct bn_group_work *out, struct bn_err *err)
{
  struct bn_conf group_conf = {.policy = bn_optset_policy(options)};
  struct bn_optset *set = bn_conf_new_options(&group_conf, err);
  int rc;

  if (set == NULL)
    return -1;
  group_work_set_options(g, options, set);
  rc = group_work_check_options(g, set, is_here, &group_conf, err);
  *out = bn_group_work_get(&group_conf);
  if (bn_groups_find_value(g, set, "rand-seed") != NULL)
    out->seed = (uint64_t)group_conf.plan.seed_typed;
  bn_conf_done(&group_conf);
  bn_optset_free(set);
  return rc;
}

int bn_group_work_divide(const struct bn_group_words *g, struct bn_group_work *work,
                         const struct bn_work_split_list *hosts, struct bn_work_split *out,
                         size_t *n, struct bn_err *err)
{
  const unsigned threads = work->total.threads_total; /* 0: not given */
  struct bn_work_split_list first = *hosts;           /* the hosts that get a share; borrowed */
  struct bn_err refusal = {0};

  if (threads > 0 && threads < first.n)
    first.n = threads;
  *n = first.n;
  if (bn_work_split_divide(&first, &work->total, out, &work->sessions, &refusal) == 0)
    return 0;
  return group_work_refuse(g, refusal.text, err);
}
