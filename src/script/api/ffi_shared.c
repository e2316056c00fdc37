/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the functions of the SQL layer that may wait on stacks of their own. */
#include "script/api/ffi_shared.h"

#include "base/clock.h"
#include "engine/event.h"
#include "engine/loop.h"
#include "script/api/ffi_sql_internal.h"
#include "script/api/ffi_sql_more.h"
#include "script/api/instance.h"

/* Calls the function that the instance's struct bn_call names, and keeps the result in it.  While a
   call waits, another instance may become the current one.  So neither this function nor those that
   it calls use the current instance. */
static void shared_run(void *arg)
{
  struct bn_instance *in = arg;
  struct bn_call *c = &in->call;

  switch (c->which) {
  case BN_CALL_QUERY:
    c->result = bn_sql_query(c->object, c->text, c->len);
    break;
  case BN_CALL_QUERY_UNCOUNTED:
    c->result = bn_sql_query_uncounted(c->object, c->text, c->len);
    break;
  case BN_CALL_PREPARE:
    c->result = bn_sql_prepare(c->object, c->text, c->len);
    break;
  case BN_CALL_BULK_INIT:
    c->number = bn_sql_bulk_init(c->object, c->text, c->len);
    break;
  case BN_CALL_BULK_NEXT:
    c->number = bn_sql_bulk_next(c->object, c->text, c->len);
    break;
  case BN_CALL_BULK_DONE:
    c->number = bn_sql_bulk_done(c->object);
    break;
  case BN_CALL_NEXT_RESULT:
    c->result = bn_sql_next_result(c->object);
    break;
  case BN_CALL_EXECUTE:
    c->result = bn_sql_execute(c->object);
    break;
  case BN_CALL_STMT_NEXT_RESULT:
    c->result = bn_sql_stmt_next_result(c->object);
    break;
  case BN_CALL_STMT_CLOSE:
    c->number = bn_sql_stmt_close(c->object);
    break;
  case BN_CALL_DISCONNECT:
    c->number = bn_sql_disconnect(c->object);
    break;
  case BN_CALL_RECONNECT:
    c->number = bn_sql_reconnect(c->object);
    break;
  case BN_CALL_SETTLE:
    bn_sql_settle_failure(c->object, c->len != 0);
    break;
  case BN_CALL_AGAIN:
    c->number = bn_ffi_repeat_event(in, (uint32_t)c->len);
    break;
  case BN_CALL_TAKE:
    c->number = bn_workqueue_take(&in->lua.vm->api->workqueue, &in->workqueue, in->lua.session);
    break;
  case BN_CALL_PREPARE_HELD:
    c->number = bn_sql_prepare_held(in->lua.session);
    break;
  case BN_CALL_BIND:
    c->number = bn_ffi_bind_params(c->object, c->params, c->len);
    break;
  default: /* BN_CALL_CONNECT */
    c->result = bn_sql_connect(c->object, in->lua.session, c->names, c->values, c->len);
    if (c->result != NULL) /* its failures are left to the script, as in bn_ffi_sql_connect() */
      bn_sql_defer_failure(c->result);
  }
}

/* Begins the instance's call.  Returns whether it waits. */
static bool shared_begin(struct bn_instance *in)
{
  struct bn_session *s = in->lua.session;
  const bool has_returned = bn_task_call(s->task, shared_run, in);

  return !has_returned;
}

bool bn_ffi_shared_call(int which, void *object, const char *text, size_t len)
{
  struct bn_instance *in = bn_instance_current();

  in->call = (struct bn_call){.which = which, .object = object, .text = text, .len = len};
  return shared_begin(in);
}

bool bn_ffi_shared_connect(sql_driver *drv, const char *const *names, const char *const *values,
                           size_t n)
{
  struct bn_instance *in = bn_instance_current();

  in->call = (struct bn_call){
      .which = BN_CALL_CONNECT, .object = drv, .names = names, .values = values, .len = n};
  return shared_begin(in);
}

bool bn_ffi_shared_bind(sql_statement *st, const struct bn_ffi_param *const *params, size_t n)
{
  struct bn_instance *in = bn_instance_current();

  in->call = (struct bn_call){.which = BN_CALL_BIND, .object = st, .params = params, .len = n};
  return shared_begin(in);
}

/* Delays the task of the session.  This needs no call on a stack of its own, so a hundred thousand
   sessions may sleep. */
void bn_ffi_shared_sleep(double ns)
{
  const struct bn_session *s = bn_instance_session();
  /* A negative time, NaN, and 31 years or more do not wait. */
  const uint64_t delay_ns = ns > 0 && ns < 1e18 ? (uint64_t)ns : 0;

  if (!bn_session_interrupted(s))
    bn_task_delay(s->task, bn_clock_mono() + delay_ns);
}

bool bn_ffi_shared_waits(void)
{
  const struct bn_task *t = bn_instance_session()->task;

  /* A session is also queued if only its turn has ended, so that others have theirs. */
  return t->fiber != NULL || t->waits || t->queued;
}

sql_result *bn_ffi_shared_rs(const char *kept)
{
  (void)kept; /* only keeps Lua from collecting the text of the call */
  return bn_ffi_from_rs(bn_instance_current()->call.result);
}

sql_connection *bn_ffi_shared_conn(void)
{
  struct bn_instance *in = bn_instance_current();

  in->lua.reported = in->call.result == NULL; /* logged, as in bn_ffi_sql_driver() */
  return bn_ffi_from_conn(in->call.result);
}

sql_statement *bn_ffi_shared_stmt(sql_connection *c, const char *kept, const char *name)
{
  (void)kept; /* only keeps Lua from collecting the text of the call */
  return bn_ffi_sql_finish_prepare(c, bn_instance_current()->call.result, name);
}

int bn_ffi_shared_rc(sql_connection *c, const char *kept)
{
  (void)kept; /* only keeps Lua from collecting the text of the call */
  return bn_ffi_sql_check(c, bn_instance_current()->call.number);
}

int bn_ffi_shared_number(void)
{
  return bn_instance_current()->call.number;
}

bool bn_ffi_shared_taken(void)
{
  struct bn_instance *in = bn_instance_current();
  const bool has_work = in->call.number != 0;

  if (has_work)
    bn_ffi_begin_taken_event(in);
  return has_work;
}

bool bn_ffi_shared_takes(void)
{
  return bn_instance_current()->workqueue.role == BN_WORKQUEUE_TAKES;
}

bool bn_ffi_shared_prepared(void)
{
  struct bn_instance *in = bn_instance_current();
  const bool has_failed = in->call.number != 0;

  bn_instance_set_reported(&in->lua, has_failed);
  return !has_failed;
}

int bn_ffi_shared_ask(bool begin)
{
  struct bn_instance *in = bn_instance_current();
  struct bn_session *s = in->lua.session;
  const enum bn_event_answer answer = bn_event_ask(s);

  if (answer == BN_EVENT_YES && begin)
    bn_event_start(s, &in->tick);
  return (int)answer;
}
