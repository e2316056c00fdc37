/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Concurrency Kit's locks for the mutex test, which measures them; no other part uses them. */
#include <ck_pflock.h>
#include <ck_rwlock.h>
#include <ck_spinlock.h>
#include <stdlib.h>

#include "tests/mutex_type.h"

BN_MUTEX_WORK(cas, ck_spinlock_cas_lock(lock), ck_spinlock_cas_unlock(lock))
BN_MUTEX_WORK(fas, ck_spinlock_fas_lock(lock), ck_spinlock_fas_unlock(lock))
BN_MUTEX_WORK(dec, ck_spinlock_dec_lock(lock), ck_spinlock_dec_unlock(lock))
BN_MUTEX_WORK(ticket, ck_spinlock_ticket_lock(lock), ck_spinlock_ticket_unlock(lock))
BN_MUTEX_WORK(mcs, ck_spinlock_mcs_lock(lock, context), ck_spinlock_mcs_unlock(lock, context))
BN_MUTEX_WORK(ck_rwlock, ck_rwlock_write_lock(lock), ck_rwlock_write_unlock(lock))
BN_MUTEX_WORK(pflock, ck_pflock_write_lock(lock), ck_pflock_write_unlock(lock))

/* A CLH lock is a queue whose nodes change hands: a session gives its node when it locks, and takes
   the previous one when it unlocks. */
struct clh_lock {
  struct ck_spinlock_clh *queue;
  struct ck_spinlock_clh first;
};

struct clh_context {
  struct ck_spinlock_clh *node;
  struct ck_spinlock_clh first;
};

static void mutex_ck_lock_clh(void *slot, void *context)
{
  struct clh_lock *l = slot;
  struct clh_context *c = context;

  ck_spinlock_clh_lock(&l->queue, c->node);
}

static void mutex_ck_unlock_clh(void *context)
{
  struct clh_context *c = context;

  ck_spinlock_clh_unlock(&c->node);
}

BN_MUTEX_WORK(clh, mutex_ck_lock_clh(lock, context), mutex_ck_unlock_clh(context))

static int mutex_ck_init_clh(void *slot, unsigned sessions)
{
  struct clh_lock *l = slot;

  (void)sessions;
  ck_spinlock_clh_init(&l->queue, &l->first);
  return 0;
}

static void mutex_ck_init_context_clh(void *context)
{
  struct clh_context *c = context;

  c->node = &c->first;
}

/* Anderson's lock is an array with an entry for every session that may wait. */
struct anderson_lock {
  struct ck_spinlock_anderson lock;
  struct ck_spinlock_anderson_thread *entry; /* owned */
};

struct anderson_context {
  struct ck_spinlock_anderson_thread *entry; /* of the session, from its lock to its unlock */
};

static void mutex_ck_lock_anderson(void *slot, void *context)
{
  struct anderson_lock *l = slot;
  struct anderson_context *c = context;

  ck_spinlock_anderson_lock(&l->lock, &c->entry);
}

static void mutex_ck_unlock_anderson(void *slot, void *context)
{
  struct anderson_lock *l = slot;
  struct anderson_context *c = context;

  ck_spinlock_anderson_unlock(&l->lock, c->entry);
}

BN_MUTEX_WORK(anderson, mutex_ck_lock_anderson(lock, context),
              mutex_ck_unlock_anderson(lock, context))

/* Makes the entries of all sessions.  Returns 0, or -1 if out of memory. */
static int mutex_ck_init_anderson(void *slot, unsigned sessions)
{
  struct anderson_lock *l = slot;

  l->entry = calloc(sessions, sizeof *l->entry);
  if (l->entry == NULL)
    return -1;
  ck_spinlock_anderson_init(&l->lock, l->entry, sessions);
  return 0;
}

static void mutex_ck_done_anderson(void *slot)
{
  struct anderson_lock *l = slot;

  free(l->entry);
}

/* Defines mutex_ck_init_<name> for a lock that is initialised by INIT alone. */
#define MUTEX_CK_INIT(NAME, INIT)                                                                  \
  static int mutex_ck_init_##NAME(void *slot, unsigned sessions)                                   \
  {                                                                                                \
    (void)sessions;                                                                                \
    INIT(slot);                                                                                    \
    return 0;                                                                                      \
  }

MUTEX_CK_INIT(cas, ck_spinlock_cas_init)
MUTEX_CK_INIT(fas, ck_spinlock_fas_init)
MUTEX_CK_INIT(dec, ck_spinlock_dec_init)
MUTEX_CK_INIT(ticket, ck_spinlock_ticket_init)
MUTEX_CK_INIT(mcs, ck_spinlock_mcs_init)
MUTEX_CK_INIT(ck_rwlock, ck_rwlock_init)
MUTEX_CK_INIT(pflock, ck_pflock_init)

const struct bn_mutex_type bn_mutex_types_ck[] = {
    {.name = "cas",
     .slot_size = sizeof(ck_spinlock_cas_t),
     .init = mutex_ck_init_cas,
     .work = mutex_work_cas},
    {.name = "fas",
     .slot_size = sizeof(ck_spinlock_fas_t),
     .init = mutex_ck_init_fas,
     .work = mutex_work_fas},
    {.name = "dec",
     .slot_size = sizeof(ck_spinlock_dec_t),
     .init = mutex_ck_init_dec,
     .work = mutex_work_dec},
    {.name = "ticket",
     .fifo_spin = true,
     .slot_size = sizeof(ck_spinlock_ticket_t),
     .init = mutex_ck_init_ticket,
     .work = mutex_work_ticket},
    {.name = "mcs",
     .fifo_spin = true,
     .slot_size = sizeof(ck_spinlock_mcs_t),
     .context_size = sizeof(ck_spinlock_mcs_context_t),
     .init = mutex_ck_init_mcs,
     .work = mutex_work_mcs},
    {.name = "clh",
     .fifo_spin = true,
     .slot_size = sizeof(struct clh_lock),
     .context_size = sizeof(struct clh_context),
     .init = mutex_ck_init_clh,
     .context_init = mutex_ck_init_context_clh,
     .work = mutex_work_clh},
    {.name = "anderson",
     .fifo_spin = true,
     .slot_size = sizeof(struct anderson_lock),
     .context_size = sizeof(struct anderson_context),
     .init = mutex_ck_init_anderson,
     .done = mutex_ck_done_anderson,
     .work = mutex_work_anderson},
    {.name = "ck-rwlock",
     .slot_size = sizeof(ck_rwlock_t),
     .init = mutex_ck_init_ck_rwlock,
     .work = mutex_work_ck_rwlock},
    {.name = "pflock",
     .fifo_spin = true,
     .slot_size = sizeof(ck_pflock_t),
     .init = mutex_ck_init_pflock,
     .work = mutex_work_pflock},
    {.name = NULL},
};
