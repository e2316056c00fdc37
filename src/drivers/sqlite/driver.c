/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SQLite driver: opening, closing and the table of hooks. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "drivers/common/deadline.h"
#include "drivers/common/quote.h"
#include "drivers/sqlite/sqlite.h"

/* Steps of SQLite's virtual machine between two calls of sqlite_on_progress: some milliseconds, and
   far more than a ROLLBACK has, which must not be interrupted. */
enum { PROGRESS_STEPS = 100000 };

enum { LONGEST_PAUSE_MS = 10 }; /* between two attempts to get a lock */

/* Prepares the library and makes the state of the driver.  Returns 0, or -1 and err. */
static int sqlite_init(void **self, const void *conf, const struct bn_driver_host *host,
                       struct bn_err *err)
{
  struct bn_sqlite *driver;

  /* A connection belongs to one thread, and counting the memory would cost a lock for each
     allocation.  If SQLite is in use already, it refuses both without harm. */
  (void)sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
  (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  if (sqlite3_initialize() != SQLITE_OK || sqlite3_threadsafe() == 0)
    return bn_err_set(err, 0, "the SQLite library is not made for several threads");
  driver = host->alloc(1, sizeof *driver);
  driver->conf = conf;
  driver->host = host;
  pthread_mutex_init(&driver->lock, NULL);
  *self = driver;
  return 0;
}

/* Frees the state of the driver and of all files, whose connections are closed. */
static void sqlite_done(void *self)
{
  struct bn_sqlite *driver = self;

  while (driver->files != NULL) {
    struct bn_sqlite_file *f = driver->files;

    driver->files = f->next;
    bn_sqlite_queue_destroy(&f->queue);
    free(f->path);
    free(f);
  }
  pthread_mutex_destroy(&driver->lock);
  free(driver);
}

/* Returns the file of that path, which is added if needed.  The caller holds driver->lock. */
static struct bn_sqlite_file *sqlite_get_file(struct bn_sqlite *driver, const char *path)
{
  struct bn_sqlite_file *f = driver->files;

  while (f != NULL && strcmp(f->path, path) != 0)
    f = f->next;
  if (f != NULL)
    return f;
  f = driver->host->alloc(1, sizeof *f);
  f->path = driver->host->text(path);
  bn_sqlite_queue_init(&f->queue);
  f->next = driver->files;
  driver->files = f;
  return f;
}

/* Pauses before another attempt to get a lock that another process holds.  n_pauses: the number of
   earlier pauses for this lock.  Returns 1 to try again, or 0 after --sqlite-busy-timeout or an
   interruption. */
static int sqlite_on_busy(void *arg, int n_pauses)
{
  struct bn_sqlite_conn *c = arg;
  const uint64_t now_ns = c->driver->host->now_ns();
  /* 1, 2, … 10 ms. */
  const long pause_ms = n_pauses < LONGEST_PAUSE_MS ? 1 + n_pauses : LONGEST_PAUSE_MS;
  const struct timespec pause = {.tv_nsec = BN_NS_PER_MS * pause_ms};
  uint64_t waited_ms;

  if (n_pauses == 0)
    c->busy_since_ns = now_ns;
  waited_ms = (now_ns - c->busy_since_ns) / BN_NS_PER_MS;
  if (waited_ms >= c->timeout_ms || atomic_load_explicit(&c->interrupted, memory_order_relaxed))
    return 0;
  (void)nanosleep(&pause, NULL);
  return 1;
}

/* Returns whether the statement must end.  sqlite3_interrupt() alone is not enough: SQLite forgets
   an interruption that comes just before the statement begins. */
static int sqlite_on_progress(void *arg)
{
  const struct bn_sqlite_conn *c = arg;

  return atomic_load_explicit(&c->interrupted, memory_order_relaxed);
}

/* Sets a pragma.  `actual` (NULL: not wanted) gets the answer: the setting that holds now.  Returns
   a result code of SQLite. */
static int sqlite_set_pragma(struct bn_sqlite_conn *c, const char *name, const char *setting,
                             char *actual, size_t size)
{
  char text[80];
  sqlite3_stmt *st = NULL;
  int rc;

  (void)snprintf(text, sizeof text, "PRAGMA %s=%s", name, setting);
  rc = sqlite3_prepare_v2(c->db, text, -1, &st, NULL);
  if (rc != SQLITE_OK)
    return rc;
  /* sqlite3_finalize returns the code of a step that failed. */
  if (sqlite3_step(st) == SQLITE_ROW && actual != NULL)
    (void)snprintf(actual, size, "%s", (const char *)sqlite3_column_text(st, 0));
  return sqlite3_finalize(st);
}

/* Sets the journal mode, and c->readers_wait by the mode that results.  If the file cannot have the
   mode, SQLite answers with the mode that stays: that is an error here, but not for a database in
   memory, which has a mode of its own.  Returns DONE, or ERROR and d. */
static enum bn_sql sqlite_set_journal(struct bn_sqlite_conn *c, const char *mode,
                                      struct bn_sql_diag *d)
{
  char actual[16] = "", text[96];
  int rc;

  /* The journal mode of a file that cannot be written stays as it is. */
  if (sqlite3_db_readonly(c->db, "main") == 1)
    return BN_SQL_DONE;
  rc = sqlite_set_pragma(c, "main.journal_mode", mode, actual, sizeof actual);
  if (rc != SQLITE_OK)
    return bn_sqlite_fail(c, rc, "sqlite3_step()", d);
  c->readers_wait = strcmp(actual, "wal") != 0;
  if (c->file == NULL || strcmp(actual, mode) == 0)
    return BN_SQL_DONE;
  (void)snprintf(text, sizeof text, "the journal mode stays '%s' and cannot be '%s' here", actual,
                 mode);
  return bn_sqlite_fail_text(c, SQLITE_ERROR, "sqlite3_step()", text, d);
}

/* Sets the handlers of the connection, and what the options ask for.  Returns DONE, or ERROR and
   d. */
static enum bn_sql sqlite_configure_connection(struct bn_sqlite_conn *c, struct bn_sql_diag *d)
{
  const struct bn_sqlite_conf *conf = c->driver->conf;
  int rc;

  (void)sqlite3_extended_result_codes(c->db, 1);
  (void)sqlite3_busy_handler(c->db, sqlite_on_busy, c);
  sqlite3_progress_handler(c->db, PROGRESS_STEPS, sqlite_on_progress, c);
  if (sqlite_set_journal(c, bn_sqlite_journal_modes[conf->journal_mode], d) != BN_SQL_DONE)
    return BN_SQL_ERROR;
  rc = sqlite_set_pragma(c, "synchronous", bn_sqlite_synchronous[conf->synchronous], NULL, 0);
  return rc == SQLITE_OK ? BN_SQL_DONE : bn_sqlite_fail(c, rc, "sqlite3_step()", d);
}

/* Opens the database, and finds its file among those of the process.  must_exist: a missing file is
   an error; else it is made.  The caller holds driver->lock, and closes c->db after a failure too.
   Returns DONE, or ERROR and d. */
static enum bn_sql sqlite_open_locked(struct bn_sqlite_conn *c, const char *path, bool must_exist,
                                      struct bn_sql_diag *d)
{
  const int create = must_exist ? 0 : SQLITE_OPEN_CREATE;
  const int flags = SQLITE_OPEN_READWRITE | create | SQLITE_OPEN_NOMUTEX;
  const int rc = sqlite3_open_v2(path, &c->db, flags, NULL);
  const bool is_missing =
      rc == SQLITE_CANTOPEN && must_exist && access(path, F_OK) != 0 && errno == ENOENT;
  const char *full;

  if (is_missing)
    return bn_sqlite_fail_text(c, rc, "sqlite3_open_v2()",
                               "there is no such file: correct --sqlite-db, or run 'prepare' first",
                               d);
  if (rc != SQLITE_OK)
    return bn_sqlite_fail(c, rc, "sqlite3_open_v2()", d);
  full = sqlite3_db_filename(c->db, "main");
  if (full != NULL && full[0] != '\0')
    c->file = sqlite_get_file(c->driver, full);
  return sqlite_configure_connection(c, d);
}

/* Returns the path of the database: of the target, or else --sqlite-db. */
static const char *sqlite_path_of(const struct bn_sqlite *driver, const struct bn_sql_target *t)
{
  for (size_t i = 0; i < t->n_overrides; i++) {
    if (strcmp(t->override_name[i], "db") == 0)
      return t->override_value[i];
  }
  return driver->conf->db != NULL ? driver->conf->db : "";
}

/* Returns --sqlite-busy-timeout, or the time until the deadline if that is less. */
static uint64_t sqlite_get_timeout_ms(const struct bn_sqlite *driver, uint64_t deadline_ns)
{
  const uint64_t configured_ms = (uint64_t)driver->conf->busy_timeout_ms;
  const uint64_t now_ns = driver->host->now_ns();
  const uint64_t remaining_ms = deadline_ns > now_ns ? (deadline_ns - now_ns) / BN_NS_PER_MS : 0;

  return configured_ms < remaining_ms ? configured_ms : remaining_ms;
}

/* Opens the database.  Waits for locks of other processes end at the deadline.  Returns DONE, or
   ERROR and d: then sqlite_disconnect frees what there is. */
static enum bn_sql sqlite_connect(void *self, void *conn, const struct bn_sql_target *t,
                                  uint64_t deadline_ns, struct bn_sql_diag *d)
{
  struct bn_sqlite_conn *c = conn;
  const char *path;
  enum bn_sql rc;

  c->driver = self;
  c->timeout_ms = sqlite_get_timeout_ms(c->driver, deadline_ns);
  path = sqlite_path_of(c->driver, t);
  (void)snprintf(d->where, sizeof d->where, "SQLite database '%s'", path);
  bn_sqlite_turn_init(&c->turn);
  c->turn_made = true;
  pthread_mutex_lock(&c->driver->lock);
  rc = sqlite_open_locked(c, path, t->prepared, d);
  pthread_mutex_unlock(&c->driver->lock);
  c->timeout_ms = (uint64_t)c->driver->conf->busy_timeout_ms; /* statements have no deadline */
  return rc;
}

/* Closes the connection, also after a failed attempt to open it.  Its turn ends after that, because
   until then the connection may hold a lock of the file. */
static void sqlite_disconnect(void *conn)
{
  struct bn_sqlite_conn *c = conn;

  if (c->db != NULL) {
    pthread_mutex_lock(&c->driver->lock);
    (void)sqlite3_close_v2(c->db); /* rolls back an open transaction */
    pthread_mutex_unlock(&c->driver->lock);
    c->db = NULL;
    bn_sqlite_end_turn(c);
  }
  bn_sqlite_rows_free(&c->rows);
  if (c->turn_made)
    bn_sqlite_turn_destroy(&c->turn);
  c->turn_made = false;
}

static struct bn_sql_caps sqlite_caps(void)
{
  return (struct bn_sql_caps){.syntax = BN_SYNTAX_STANDARD};
}

/* Ends the statement that runs, a wait for a turn, and all statements and waits that come. */
static void sqlite_interrupt(void *conn)
{
  struct bn_sqlite_conn *c = conn;

  atomic_store_explicit(&c->interrupted, true, memory_order_relaxed);
  if (c->file != NULL)
    bn_sqlite_queue_interrupt(&c->file->queue, &c->turn);
  sqlite3_interrupt(c->db);
}

static void sqlite_about(void *conn, struct bn_sql_about *out)
{
  (void)conn;
  (void)snprintf(out->client, sizeof out->client, "%s", sqlite3_libversion());
}

static size_t sqlite_quote(void *conn, char *out, const char *in, size_t len)
{
  (void)conn;
  return bn_quote_double(out, in, len);
}

static bool sqlite_fetch(void *conn, struct bn_sql_result *r, struct bn_sql_value *row)
{
  struct bn_sqlite_conn *c = conn;

  return bn_sqlite_rows_fetch(&c->rows, r->nfields, row);
}

/* Leaves the rows: the next statement reuses their memory, and further results of the same text may
   be pending. */
static void sqlite_free_result(void *conn, struct bn_sql_result *r)
{
  (void)conn;
  (void)r;
}

static enum bn_sql_transaction sqlite_transaction(void *conn)
{
  const struct bn_sqlite_conn *c = conn;

  return sqlite3_get_autocommit(c->db) != 0 ? BN_TRANSACTION_OWN : BN_TRANSACTION_OPEN;
}

static void sqlite_close_stmt(void *stmt)
{
  struct bn_sqlite_stmt *s = stmt;

  (void)sqlite3_finalize(s->st);
  s->st = NULL;
}

/* Gets the file system of the file, or of its folder if the file does not exist.  Returns 0 or
   -1. */
static int sqlite_find_filesystem(const char *path, struct statfs *fs)
{
  char folder[PATH_MAX], *slash;

  if (statfs(path, fs) == 0)
    return 0;
  (void)snprintf(folder, sizeof folder, "%s", path);
  slash = strrchr(folder, '/');
  if (slash == NULL)
    return -1;
  if (slash == folder) /* the slash of the root folder stays */
    slash++;
  *slash = '\0';
  return statfs(folder, fs);
}

/* Returns whether the free blocks do not tell how many rows fit: the file system compresses or
   shares blocks, or does not tell its size. */
static bool sqlite_is_elastic_filesystem(const struct statfs *fs)
{
  switch ((uint32_t)fs->f_type) {
  case 0x9123683e: /* Btrfs */
  case 0xca451a4e: /* bcachefs */
  case 0xf2f52010: /* F2FS */
  case 0x2fc12fc1: /* ZFS */
    return true;
  default:
    return fs->f_blocks == 0;
  }
}

/* Refuses rows that the file system of the database has surely no room for.  Blocks that are free
   only to root count as room, and so does the file, which may have unused pages.  Returns 0, or -1
   and err. */
static int sqlite_check_room(void *conn, uint64_t bytes, struct bn_err *err)
{
  const struct bn_sqlite_conn *c = conn;
  const char *path = sqlite3_db_filename(c->db, "main");
  struct statfs fs;
  struct stat st;
  uint64_t room;

  if (path == NULL || path[0] == '\0') /* a database in memory */
    return 0;
  if (sqlite_find_filesystem(path, &fs) != 0 || sqlite_is_elastic_filesystem(&fs))
    return 0;
  room = (uint64_t)fs.f_bfree * (uint64_t)fs.f_frsize;
  if (stat(path, &st) == 0)
    room += (uint64_t)st.st_size;
  if (bytes <= room)
    return 0;
  return bn_err_set(err, BN_ERR_OPTION,
                    "the rows need at least %llu MiB, but the file system of '%s' has %llu MiB "
                    "left: lower --tables or --table-size, or use another --sqlite-db",
                    (unsigned long long)(bytes >> 20), path, (unsigned long long)(room >> 20));
}

static const char *const texts[BN_STEPS] = {
    [BN_STEP_CONNECT] = "unable to open %w, aborting...\nerror %e: %m",
    [BN_STEP_PREPARE] = "%c failed\nSQLite error: %e \"%m\"",
    [BN_STEP_BIND] = "%c failed\nSQLite error: %e \"%m\"",
    [BN_STEP_QUERY] = "%c returned error %e (%m) for query '%q'",
};

static const char *const isolation[BN_ISOLATIONS] = {
    [BN_ISOLATION_SERIALIZABLE] = "",
};

__attribute__((visibility("default"))) const struct bn_driver bench_driver = {
    .abi = BN_DRIVER_ABI,
    .size = sizeof(struct bn_driver),
    .name = "sqlite",
    .title = "SQLite driver",
    .options = bn_sqlite_options,
    .conf_size = sizeof(struct bn_sqlite_conf),
    .conn_size = sizeof(struct bn_sqlite_conn),
    .stmt_size = sizeof(struct bn_sqlite_stmt),
    .init = sqlite_init,
    .done = sqlite_done,
    .connect = sqlite_connect,
    .disconnect = sqlite_disconnect,
    .caps = sqlite_caps,
    .classify = bn_sqlite_classify,
    .ignore = {.classes = 1u << BN_CLASS_SERIALIZATION | 1u << BN_CLASS_LOCK_TIMEOUT |
                          1u << BN_CLASS_DUPLICATE},
    .interrupt = sqlite_interrupt,
    .about = sqlite_about,
    .quote = sqlite_quote,
    .query = bn_sqlite_query,
    .prepare = bn_sqlite_prepare,
    .bind = bn_sqlite_bind,
    .execute = bn_sqlite_execute,
    .next = bn_sqlite_next,
    .fetch = sqlite_fetch,
    .free_result = sqlite_free_result,
    .close = sqlite_close_stmt,
    .texts = texts,
    .isolation = isolation,
    .missing = bn_sqlite_is_missing_table,
    .remedy = bn_sqlite_find_remedy,
    .transaction = sqlite_transaction,
    .check_room = sqlite_check_room,
};
