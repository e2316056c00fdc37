/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bulk load by LOAD DATA LOCAL from memory: no file is opened, whatever the server asks for.  The
   statement turns errors into warnings, so it runs in a transaction, or after a savepoint of the
   caller's transaction, and its rows are kept only without warnings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/mysql/driver.h"
#include "drivers/mysql/error.h"
#include "drivers/mysql/lib/lib.h"

/* Rows in the caller's memory. */
struct bn_mysql_part {
  const char *data;
  size_t len;
};

static const char source_name[] = "rows of bench";

/* Called by the library when the server asks for a file.  Returns 0 if a load is being executed and
   the file has the name of bench's rows, else -1: the library then refuses. */
static int load_begin_reading(void **reader, const char *name, void *conn)
{
  struct bn_mysql_lib *c = conn;
  const bool is_of_load = c->load.expected && strcmp(name, source_name) == 0;

  *reader = &c->load;
  c->load.next_part = c->load.part_read = 0;
  return is_of_load ? 0 : -1;
}

/* Gives the library the next bytes of the file, at most `room`, from the parts that were collected.
   Returns their number, or 0 at the end. */
static int load_read_rows(void *reader, char *out, unsigned room)
{
  struct bn_mysql_load *load = reader;
  unsigned copied = 0;

  while (copied < room && load->next_part < load->n_parts) {
    const struct bn_mysql_part *part = &load->part[load->next_part];
    const size_t remaining = part->len - load->part_read;
    const unsigned n = remaining < room - copied ? (unsigned)remaining : room - copied;

    memcpy(out + copied, part->data + load->part_read, n);
    copied += n;
    load->part_read += n;
    if (load->part_read == part->len) {
      load->next_part++;
      load->part_read = 0;
    }
  }
  return (int)copied;
}

/* Called by the library at the end of the file, where nothing has to be freed. */
static void load_end_reading(void *reader)
{
  (void)reader;
}

/* Tells the library why load_begin_reading has refused.  Returns the number of an error. */
static int load_explain_refusal(void *reader, char *text, unsigned room)
{
  (void)reader;
  (void)snprintf(text, room, "the server asked for a file");
  return ENOENT;
}

void bn_mysql_lib_load_guard(struct bn_mysql_lib *c)
{
  mysql_set_local_infile_handler(c->handle, load_begin_reading, load_read_rows, load_end_reading,
                                 load_explain_refusal, c);
}

/* Sends a statement.  Returns DONE, ERROR or LOST. */
static enum bn_sql load_run_statement(struct bn_mysql_lib *c, const char *sql,
                                      struct bn_sql_diag *d)
{
  const int rc = mysql_real_query(c->handle, sql, strlen(sql));

  bn_mysql_trace(c->driver, "mysql_real_query(%p, \"%s\", %zu) = %d", (void *)c->handle, sql,
                 strlen(sql), rc);
  return rc == 0 ? BN_SQL_DONE : bn_mysql_lib_fail(c, bn_mysql_query_call, d);
}

/* Refuses the load for a reason that INSERT does not have.  Returns ERROR. */
static enum bn_sql load_refuse(const char *reason, struct bn_sql_diag *d)
{
  return bn_mysql_fail_text(0, "LOAD DATA", reason, d);
}

/* Returns the field, from 0, that has the name in a list such as "id, `k`", or -1. */
static int load_find_column(const char *columns, const char *name)
{
  const size_t name_len = strlen(name);
  int field = 0;

  for (const char *p = columns; *p != '\0';) {
    const size_t len = strcspn(p, ", `"); /* 0 between two separators */

    if (len == name_len && strncasecmp(p, name, len) == 0)
      return field;
    if (p[len] == ',')
      field++;
    p += p[len] != '\0' ? len + 1 : len;
  }
  return -1;
}

/* Returns whether LOAD DATA reads the values of a type as INSERT does: not those of BIT, JSON, ENUM
   and SET, for example.  A type may have further words: "int(11) unsigned". */
static bool load_is_plain_type(const char *type)
{
  static const char *const words[] = {"int",  "char", "text", "blob",   "binary", "decimal",
                                      "date", "time", "year", "double", "float"};

  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strstr(type, words[i]) != NULL)
      return true;
  }
  return false;
}

/* The columns of SHOW COLUMNS. */
enum { SHOWN_FIELD, SHOWN_TYPE, SHOWN_NULL, SHOWN_KEY, SHOWN_DEFAULT, SHOWN_EXTRA, SHOWN };

/* The reason not to load rows whose numbers the server gives. */
static const char leaves_gaps[] = "the server would leave gaps in the numbers it gives";

/* Reads the result of SHOW COLUMNS.  Returns NULL, or why LOAD DATA would store something else than
   INSERT.  Sets *auto_field to the field of the AUTO_INCREMENT column, or to -1. */
static const char *load_check_columns(MYSQL_RES *res, const char *columns, int *auto_field)
{
  const char *reason = NULL;
  MYSQL_ROW row;

  *auto_field = -1;
  while ((row = mysql_fetch_row(res)) != NULL) {
    if (!load_is_plain_type(bn_mysql_lib_cell(res, row, SHOWN_TYPE)))
      reason = "a column has a type whose values are written in another way";
    if (strstr(bn_mysql_lib_cell(res, row, SHOWN_EXTRA), "auto_increment") == NULL)
      continue;
    *auto_field = load_find_column(columns, bn_mysql_lib_cell(res, row, SHOWN_FIELD));
    if (*auto_field < 0)
      reason = leaves_gaps;
  }
  return reason;
}

/* Checks that a load stores in the table what INSERT would store, and sets c->load.auto_field.
   Returns DONE, ERROR or LOST. */
static enum bn_sql load_check_table(struct bn_mysql_lib *c, const char *table, const char *columns,
                                    struct bn_sql_diag *d)
{
  char *sql = c->driver->host->print("SHOW COLUMNS FROM %s", table);
  enum bn_sql rc = load_run_statement(c, sql, d);
  const char *reason;
  MYSQL_RES *res;

  free(sql);
  if (rc != BN_SQL_DONE)
    return rc;
  res = mysql_store_result(c->handle);
  if (res == NULL)
    return bn_mysql_lib_fail(c, "mysql_store_result()", d);
  if (mysql_num_fields(res) < SHOWN)
    reason = "the table's columns are unknown";
  else
    reason = load_check_columns(res, columns, &c->load.auto_field);
  mysql_free_result(res);
  return reason != NULL ? load_refuse(reason, d) : BN_SQL_DONE;
}

void bn_mysql_lib_load_forget(struct bn_mysql_lib *c)
{
  free(c->load.table);
  free(c->load.columns);
  free(c->load.part);
  memset(&c->load, 0, sizeof c->load);
}

/* Checks the table and its columns and remembers both.  A load mostly has those of the last one,
   which are not checked again.  Returns DONE, ERROR or LOST. */
static enum bn_sql load_check_table_once(struct bn_mysql_lib *c, const char *table,
                                         const char *columns, struct bn_sql_diag *d)
{
  struct bn_mysql_load *load = &c->load;
  enum bn_sql rc;

  if (load->table != NULL && strcmp(load->table, table) == 0 && strcmp(load->columns, columns) == 0)
    return BN_SQL_DONE;
  bn_mysql_lib_load_forget(c);
  rc = load_check_table(c, table, columns, d);
  if (rc != BN_SQL_DONE)
    return rc;
  load->table = c->driver->host->text(table);
  load->columns = c->driver->host->text(columns);
  return BN_SQL_DONE;
}

enum bn_sql bn_mysql_lib_load_begin(struct bn_mysql_lib *c, const char *table, const char *columns,
                                    struct bn_sql_diag *d)
{
  enum bn_sql rc;

  bn_mysql_lib_enter(c);
  c->load.n_parts = 0;
  if ((c->handle->server_status & SERVER_STATUS_NO_BACKSLASH_ESCAPES) != 0)
    return load_refuse("the server knows no escapes", d);
  rc = load_check_table_once(c, table, columns, d);
  c->load.to_skip = c->load.auto_field; /* the bytes to come begin with a row */
  return rc;
}

/* The value of to_skip once the AUTO_INCREMENT column of a row has begun. */
enum { COLUMN_BEGUN = -1 };

/* Returns whether the AUTO_INCREMENT column of a row has a value that does not begin with 1 to 9:
   for NULL and 0 the server would give the number.  The bytes may begin and end within a row:
   load->to_skip remembers where. */
static bool load_lacks_number(struct bn_mysql_load *load, const char *rows, size_t len)
{
  const char *const end = rows + len;

  for (const char *p = rows; p < end;) {
    const bool is_before_column = load->to_skip > 0;

    if (load->to_skip == 0) {
      if (*p < '1' || *p > '9')
        return true;
      load->to_skip = COLUMN_BEGUN;
    }
    /* A field before the column ends with a tab; from the column on, only the row's end counts. */
    p = memchr(p, is_before_column ? '\t' : '\n', (size_t)(end - p));
    if (p == NULL)
      break;
    load->to_skip = is_before_column ? load->to_skip - 1 : load->auto_field;
    p++;
  }
  return false;
}

enum bn_sql bn_mysql_lib_load_rows(struct bn_mysql_lib *c, const char *rows, size_t len,
                                   struct bn_sql_diag *d)
{
  struct bn_mysql_load *load = &c->load;

  if (len == 0)
    return BN_SQL_DONE;
  if (load->auto_field >= 0 && load_lacks_number(load, rows, len)) {
    (void)load_refuse(leaves_gaps, d);
    d->rolled_back = true; /* nothing was sent */
    return BN_SQL_ERROR;
  }
  load->part = c->driver->host->resize(load->part, load->n_parts + 1, sizeof *load->part);
  load->part[load->n_parts++] = (struct bn_mysql_part){.data = rows, .len = len};
  return BN_SQL_DONE;
}

/* Returns the number of rows, each a line.  Sets *is_ascii to whether all bytes are ASCII. */
static uint64_t load_count_rows(const struct bn_mysql_load *load, bool *is_ascii)
{
  unsigned char used_bits = 0;
  uint64_t n = 0;

  for (size_t i = 0; i < load->n_parts; i++) {
    const struct bn_mysql_part *part = &load->part[i];

    for (size_t k = 0; k < part->len; k++) {
      used_bits |= (unsigned char)part->data[k];
      n += part->data[k] == '\n';
    }
  }
  *is_ascii = (used_bits & 0x80) == 0;
  return n;
}

/* The columns of SHOW WARNINGS. */
enum { WARNED_LEVEL, WARNED_CODE, WARNED_MESSAGE };

/* Reports the first warning of the load as its error.  Returns ERROR or LOST. */
static enum bn_sql load_fail_as_warned(struct bn_mysql_lib *c, struct bn_sql_diag *d)
{
  enum bn_sql rc = load_run_statement(c, "SHOW WARNINGS LIMIT 1", d);
  MYSQL_RES *res;
  MYSQL_ROW row;

  if (rc != BN_SQL_DONE)
    return rc;
  res = mysql_store_result(c->handle);
  row = res != NULL ? mysql_fetch_row(res) : NULL;
  if (row != NULL)
    rc = bn_mysql_fail_text((int)strtol(bn_mysql_lib_cell(res, row, WARNED_CODE), NULL, 10),
                            "LOAD DATA", bn_mysql_lib_cell(res, row, WARNED_MESSAGE), d);
  else
    rc = load_refuse("the server did not store all of the rows", d);
  mysql_free_result(res);
  return rc;
}

/* Sends the collected rows.  Returns DONE if the server has stored all of them without a warning,
   else ERROR or LOST. */
static enum bn_sql load_send_rows(struct bn_mysql_lib *c, struct bn_sql_diag *d)
{
  const struct bn_mysql_load *load = &c->load;
  const bool has_columns = load->columns[0] != '\0';
  bool is_ascii;
  const uint64_t rows = load_count_rows(load, &is_ascii);
  /* ASCII is the same in latin1, which the server reads in nearly half of the time, because no
     character has several bytes. */
  const char *charset = is_ascii ? "latin1" : mysql_character_set_name(c->handle);
  char *sql = c->driver->host->print(
      "LOAD DATA LOCAL INFILE '%s' INTO TABLE %s CHARACTER SET %s%s%s%s", source_name, load->table,
      charset, has_columns ? " (" : "", load->columns, has_columns ? ")" : "");
  enum bn_sql rc;

  c->load.expected = true;
  rc = load_run_statement(c, sql, d);
  c->load.expected = false;
  free(sql);
  if (rc != BN_SQL_DONE)
    return rc;
  if (mysql_warning_count(c->handle) != 0 || mysql_affected_rows(c->handle) != rows)
    return load_fail_as_warned(c, d);
  return BN_SQL_DONE;
}

/* The statements around a load, by which its rows are kept or undone together. */
struct load_frame {
  const char *begin, *keep, *undo;
};
static const struct load_frame load_transaction = {
    .begin = "START TRANSACTION", .keep = "COMMIT", .undo = "ROLLBACK"};
static const struct load_frame load_savepoint = {.begin = "SAVEPOINT bench_load",
                                                 .keep = "RELEASE SAVEPOINT bench_load",
                                                 .undo = "ROLLBACK TO SAVEPOINT bench_load"};

/* Returns whether statements of the caller belong to the transaction of a load. */
static bool load_is_in_transaction(const struct bn_mysql_lib *c)
{
  const unsigned status = c->handle->server_status;

  return (status & SERVER_STATUS_IN_TRANS) != 0 || (status & SERVER_STATUS_AUTOCOMMIT) == 0;
}

/* Undoes a failed load, whose error stays in d.  d->rolled_back says whether the undo has removed
   all rows of the load, and nothing else.  Returns ERROR, or LOST with the undo's failure in d. */
static enum bn_sql load_undo(struct bn_mysql_lib *c, const char *undo, struct bn_sql_diag *d)
{
  struct bn_sql_diag load_error = *d;
  const enum bn_sql rc = load_run_statement(c, undo, d);

  if (rc == BN_SQL_LOST)
    return rc;
  /* An undo fails if the error of the load has ended the caller's transaction, and the savepoint
     with it.  The server warns if a table has kept rows. */
  load_error.rolled_back = rc == BN_SQL_DONE && mysql_warning_count(c->handle) == 0;
  *d = load_error;
  return BN_SQL_ERROR;
}

enum bn_sql bn_mysql_lib_load_end(struct bn_mysql_lib *c, struct bn_sql_diag *d)
{
  const struct load_frame *frame;
  enum bn_sql rc;

  if (c->load.n_parts == 0)
    return BN_SQL_DONE;
  frame = load_is_in_transaction(c) ? &load_savepoint : &load_transaction;
  bn_mysql_lib_enter(c);
  rc = load_run_statement(c, frame->begin, d);
  if (rc == BN_SQL_DONE)
    rc = load_send_rows(c, d);
  if (rc == BN_SQL_DONE)
    return load_run_statement(c, frame->keep, d);
  if (rc == BN_SQL_ERROR)
    return load_undo(c, frame->undo, d);
  return rc;
}
