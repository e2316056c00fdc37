/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bulk insert: rows are collected into statements as long as those of sysbench, or for the driver's
   bulk load. */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "sql/errors.h"
#include "sql/lex.h"
#include "sql/query.h"

/* The longest statement: sysbench's buffer has 524288 bytes, of which one is a terminator. */
enum { STATEMENT_MAX = 524288 - 1 };

/* Refuses a call of the script, after a message.  Returns -1. */
static int bulk_refuse(struct bn_sql_conn *c)
{
  bn_sql_refuse(c);
  return -1;
}

/* Refuses a text that is too long.  The message counts a terminator, as that of sysbench does.
   Returns -1. */
static int bulk_refuse_length(struct bn_sql_conn *c)
{
  bn_log(BN_FATAL, "Query length exceeds the maximum value (%zu), aborting", c->bulk->max + 1);
  return bulk_refuse(c);
}

/* Makes the state of a connection's bulk inserts, and chooses how its rows are sent.  Commands fill
   tables in the fastest way: by the bulk load of the driver, and with shorter statements if the
   server takes no long ones.  A run measures INSERTs, which are as long as those of sysbench. */
static struct bn_sql_bulk *bulk_new(const struct bn_sql_conn *c)
{
  /* A packet of MySQL is shorter than the limit, and has up to three bytes of the protocol before
     the text: the command, and the numbers of its attributes. */
  enum { PACKET_OVERHEAD = 4 };
  struct bn_sql_info info = bn_sql_info_unknown();
  struct bn_sql_bulk *b = bn_alloc(1, sizeof *b);

  b->max = STATEMENT_MAX;
  b->may_load = bn_sql_conn_may_load(c);
  /* Other servers have no such limit.  A question to them, in a transaction of the script, would be
     one more statement that may fail. */
  if (!b->may_load || !bn_sql_is_mysql(&c->drv->caps) || c->drv->ops->info == NULL)
    return b;
  if (c->drv->ops->info(c->server->handle, &info) != 0)
    return b;
  if (info.max_packet > PACKET_OVERHEAD && info.max_packet - PACKET_OVERHEAD < STATEMENT_MAX)
    b->max = (size_t)info.max_packet - PACKET_OVERHEAD;
  return b;
}

int bn_sql_bulk_init(struct bn_sql_conn *c, const char *insert, size_t len)
{
  struct bn_sql_bulk *b;

  if (c->state != BN_CONN_OPEN) {
    bn_log(BN_ALERT, "attempt to use an already closed connection");
    return bulk_refuse(c);
  }
  if (c->bulk == NULL)
    c->bulk = bulk_new(c);
  if (len > c->bulk->max)
    return bulk_refuse_length(c);
  c->view.error = BN_VERDICT_NONE;
  b = c->bulk;
  bn_buf_clear(&b->text);
  b->rows = b->n_cuts = 0;
  b->head = len;
  if (b->may_load)
    (void)bn_sql_load_start(&b->load, insert, len); /* load.on: its rows can be loaded */
  else
    bn_sql_load_forget(&b->load);
  /* All room is made at once: growing by doubling would leave the heap full of holes. */
  (void)bn_buf_reserve(&b->text, b->load.on ? BN_SQL_LOAD_MAX : STATEMENT_MAX + 1);
  (void)bn_buf_add(&b->text, insert, len);
  b->active = true;
  return 0;
}

/* Removes all rows from the text, which then ends with VALUES. */
static void bulk_truncate_rows(struct bn_sql_bulk *b)
{
  b->text.len = b->head;
  b->text.data[b->text.len] = '\0';
  b->rows = 0;
  b->n_cuts = 0;
}

/* Removes the first n_sent statements.  The statement after them, whose text up to VALUES was moved
   to sql, becomes the first. */
static void bulk_keep_unsent(struct bn_sql_bulk *b, const char *sql, unsigned n_sent)
{
  const size_t shift = (size_t)(sql - b->text.data);

  memmove(b->text.data, sql, b->text.len - shift + 1);
  b->text.len -= shift;
  for (unsigned i = n_sent; i < b->n_cuts; i++)
    b->cut[i - n_sent] = b->cut[i] - shift;
  b->n_cuts -= n_sent;
}

/* Whether the script is adding a row, which may belong to the last statement in the buffer. */
enum bulk_next { NO_ROW_FOLLOWS, ROW_FOLLOWS };

/* Sends the statement from sql to `end`, where the comma before the next statement's rows stands,
   or the end of the text.  A failure does not repeat the event, so it is always logged.  Returns 0,
   or -1 after a failure. */
static int bulk_send_statement(struct bn_sql_conn *c, const char *sql, char *end)
{
  const char replaced = *end;

  *end = '\0';
  c->failure.unrepeatable = true;
  (void)bn_sql_query(c, sql, (size_t)(end - sql));
  c->failure.unrepeatable = false;
  *end = replaced;
  return c->view.error == BN_VERDICT_NONE ? 0 : -1;
}

/* Sends the statements in the buffer; if a row follows, the last one stays there.  The buffer has
   the text up to VALUES once, for the first statement.  For each later statement, that text is
   moved to the place before its rows, over rows that have been sent.  Returns 0, or -1 after a
   failure: the statement that failed and those after it stay. */
static int bulk_insert_statements(struct bn_sql_conn *c, enum bulk_next next)
{
  struct bn_sql_bulk *b = c->bulk;
  char *sql = b->text.data;

  for (unsigned i = 0; i <= b->n_cuts; i++) {
    const bool is_last = i == b->n_cuts;
    char *end = b->text.data + (is_last ? b->text.len : b->cut[i] - 1);

    if (i > 0)
      sql = memmove(b->text.data + b->cut[i - 1] - b->head, sql, b->head);
    if (is_last && next == ROW_FOLLOWS) {
      bulk_keep_unsent(b, sql, i);
      return 0;
    }
    if (bulk_send_statement(c, sql, end) != 0) {
      bulk_keep_unsent(b, sql, i);
      return -1;
    }
  }
  bulk_truncate_rows(b);
  return 0;
}

/* Gives the collected lines to the driver's bulk load.  Returns DONE, or a failure and c->diag. */
static enum bn_sql bulk_hand_over_lines(struct bn_sql_conn *c)
{
  const struct bn_sql_load *l = &c->bulk->load;
  const struct bn_sql_link *link = c->server;
  enum bn_sql rc = link->ops->load_begin(link->handle, l->table, l->columns, &c->diag);

  if (rc != BN_SQL_DONE) {
    /* No row was sent, so the server has stored none. */
    c->diag.rolled_back = true;
    return rc;
  }
  rc = link->ops->load_rows(link->handle, l->lines.data, l->lines.len, &c->diag);
  if (rc != BN_SQL_DONE)
    return rc;
  return link->ops->load_end(link->handle, &c->diag);
}

/* Counts a load that began at since_ns, and whose outcome is rc, as one INSERT.  A failure does not
   repeat the event, so it is always logged. */
static void bulk_count_load(struct bn_sql_conn *c, enum bn_sql rc, uint64_t since_ns,
                            const struct bn_buf *described)
{
  static const char word[] = "insert";
  const struct bn_sql_statement_type insert =
      bn_sql_statement_type_of(c->sys->by_first_word, word, strlen(word));

  c->cur.result = (struct bn_sql_result){.affected = c->bulk->load.rows};
  c->failure.unrepeatable = true;
  (void)bn_sql_finish(c, rc, since_ns, insert, described->data, described->len);
  c->failure.unrepeatable = false;
}

/* Loads the collected lines.  If the server refuses them and has stored none, loading is turned
   off: the rows may pass as INSERT, and if they do not, the INSERT says why in words that users
   know.  Such a load is not counted.  Returns 0, or -1 after a failure. */
static int bulk_load(struct bn_sql_conn *c)
{
  const uint64_t since_ns = bn_clock_now(&c->session->clock);
  struct bn_sql_load *load = &c->bulk->load;
  struct bn_buf described;
  enum bn_sql rc;

  if (!bn_sql_begin(c, NULL, 0))
    return -1;
  if (c->cur.more)
    (void)bn_sql_conn_drop_results(c, NULL);
  bn_buf_init(&described, 0);
  bn_sql_load_describe(load, &described);
  bn_sql_trace(&c->sys->trace, c->session, described.data, described.len);
  rc = bulk_hand_over_lines(c);
  if (rc == BN_SQL_ERROR && c->diag.rolled_back) {
    bn_log(BN_DEBUG, "the rows are sent as INSERT: %s", bn_sql_shown(&c->diag).text);
    c->diag.rolled_back = false;
    c->bulk->may_load = load->on = false;
    rc = BN_SQL_DONE;
  } else {
    bulk_count_load(c, rc, since_ns, &described);
  }
  bn_buf_done(&described);
  return rc == BN_SQL_DONE ? 0 : -1;
}

/* Sends the collected rows.  If the server refuses to load them, they are sent as the INSERTs that
   would have been sent without loading; if a row follows, the last INSERT waits for it.  Returns 0,
   or -1 after a failure: the rows that were not sent stay. */
static int bulk_flush(struct bn_sql_conn *c, enum bulk_next next)
{
  struct bn_sql_load *load = &c->bulk->load;

  if (c->bulk->rows == 0)
    return 0;
  if (load->on && bulk_load(c) != 0)
    return -1;
  if (!load->on)
    return bulk_insert_statements(c, next);
  bn_buf_clear(&load->lines);
  load->rows = 0;
  bulk_truncate_rows(c->bulk);
  return 0;
}

/* Adds the row to the lines that are to be loaded.  The lines before it are loaded first if the
   text or `cut` has no room for it.  A row that cannot be loaded ends the loading.  Returns 0, or
   -1 after a failure. */
static int bulk_add_line(struct bn_sql_conn *c, const char *row, size_t len)
{
  struct bn_sql_bulk *b = c->bulk;
  const bool is_full = b->text.len + len + 1 >= BN_SQL_LOAD_MAX || b->n_cuts == BN_SQL_CUTS;

  if (is_full && bulk_flush(c, ROW_FOLLOWS) != 0)
    return -1;
  /* bulk_flush has turned loading off if the server refused it. */
  if (!b->load.on || bn_sql_load_add(&b->load, row, len))
    return 0;
  /* This row and all rows after it are sent as INSERT. */
  if (bulk_flush(c, ROW_FOLLOWS) != 0)
    return -1;
  b->load.on = false;
  return 0;
}

/* Prepares the text for one more row, of len bytes, by a comma after the row before it.  If the row
   has to begin another statement, the statement before it is sent, except while rows are loaded:
   then `cut` gets the place of the row.  Returns 0, or -1 after a failure. */
static int bulk_separate_row(struct bn_sql_conn *c, size_t len)
{
  struct bn_sql_bulk *b = c->bulk;
  const size_t rows_begin = b->n_cuts > 0 ? b->cut[b->n_cuts - 1] : b->head;
  const size_t statement_len = b->head + (b->text.len - rows_begin);
  const bool is_full = statement_len + len + 1 > b->max;

  if (b->rows == 0)
    return 0;
  if (is_full && !b->load.on)
    return bulk_insert_statements(c, NO_ROW_FOLLOWS);
  (void)bn_buf_char(&b->text, ',');
  if (is_full)
    b->cut[b->n_cuts++] = b->text.len;
  return 0;
}

int bn_sql_bulk_next(struct bn_sql_conn *c, const char *row, size_t len)
{
  struct bn_sql_bulk *b = c->bulk;

  c->view.error = BN_VERDICT_NONE;
  if (b == NULL || !b->active) {
    bn_log(BN_ALERT, "attempt to call bulk_insert_next() before bulk_insert_init()");
    return bulk_refuse(c);
  }
  if (len > b->max - b->head)
    return bulk_refuse_length(c);
  if (b->load.on && bulk_add_line(c, row, len) != 0)
    return -1;
  if (bulk_separate_row(c, len) != 0)
    return -1;
  (void)bn_buf_add(&b->text, row, len);
  b->rows++;
  return 0;
}

int bn_sql_bulk_done(struct bn_sql_conn *c)
{
  c->view.error = BN_VERDICT_NONE;
  if (c->bulk == NULL)
    return 0;
  if (bulk_flush(c, NO_ROW_FOLLOWS) != 0)
    return -1;
  bn_sql_bulk_free_rows(c->bulk);
  c->bulk->active = false;
  return 0;
}
