/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the figures of --watch in rows. */
#include "report/text/parts.h"

#include <string.h>

static const double mb = 1e6, mib = 0x1p20;

enum { ROW_FIGURES_MAX = 4 };

/* A row of figures with slashes between them. */
struct row {
  const char *label;                 /* in a full report */
  const char *line_label;            /* under an interval; NULL: the row is not printed there */
  double unit;                       /* the figures are divided by it */
  const char *name[ROW_FIGURES_MAX]; /* ends with NULL unless full */
};

static const struct row host[] = {
    {"processors user/nice/system (%):",
     "user/nice/system %",
     1,
     {"host_user_percent", "host_nice_percent", "host_system_percent"}},
    {"processors irq/softirq/steal (%):",
     NULL,
     1,
     {"host_irq_percent", "host_softirq_percent", "host_steal_percent"}},
    {"processors iowait/idle (%):",
     "iowait/idle %",
     1,
     {"host_iowait_percent", "host_idle_percent"}},
    {"context switches/interrupts (1/s):",
     "switches/interrupts per s",
     1,
     {"host_context_switches_per_s", "host_interrupts_per_s"}},
    {"memory available/cached/dirty (MiB):",
     "available/cached/dirty MiB",
     mib,
     {"host_memory_available_bytes", "host_memory_cached_bytes", "host_memory_dirty_bytes"}},
    {"network received/sent (MB/s):",
     "received/sent MB/s",
     mb,
     {"host_network_received_bytes_per_s", "host_network_sent_bytes_per_s"}},
    {"loopback (MB/s):", NULL, mb, {"host_loopback_bytes_per_s"}},
};

static const struct row device[] = {
    {"device reads/writes/flushes (1/s):",
     "reads/writes/flushes per s",
     1,
     {"device_reads_per_s", "device_writes_per_s", "device_flushes_per_s"}},
    {"device read/written (MB/s):",
     "read/written MB/s",
     mb,
     {"device_read_bytes_per_s", "device_written_bytes_per_s"}},
    {"device merged reads/writes (1/s):",
     NULL,
     1,
     {"device_reads_merged_per_s", "device_writes_merged_per_s"}},
    {"device await read/write/flush (ms):",
     "read/write/flush await ms",
     1,
     {"device_read_await_ms", "device_write_await_ms", "device_flush_await_ms"}},
    {"device queue length:", "queue", 1, {"device_queue_length"}},
    {"device utilization (%):", "utilization %", 1, {"device_utilization_percent"}},
};

/* The rows of MySQL and MariaDB, then the rows of PostgreSQL. */
static const struct row server[] = {
    {"server questions/commits (1/s):",
     "questions/commits per s",
     1,
     {"server_Questions_per_s", "server_Com_commit_per_s"}},
    {"server select/insert/update/delete (1/s):",
     NULL,
     1,
     {"server_Com_select_per_s", "server_Com_insert_per_s", "server_Com_update_per_s",
      "server_Com_delete_per_s"}},
    {"server received/sent (MB/s):",
     NULL,
     mb,
     {"server_Bytes_received_per_s", "server_Bytes_sent_per_s"}},
    {"InnoDB reads/writes/fsyncs (1/s):",
     "InnoDB reads/writes/fsyncs per s",
     1,
     {"server_Innodb_data_reads_per_s", "server_Innodb_data_writes_per_s",
      "server_Innodb_data_fsyncs_per_s"}},
    {"InnoDB the same per transaction:",
     NULL,
     1,
     {"server_Innodb_data_reads_per_transaction", "server_Innodb_data_writes_per_transaction",
      "server_Innodb_data_fsyncs_per_transaction"}},
    {"InnoDB log (MB/s):", "log MB/s", mb, {"server_Innodb_os_log_written_per_s"}},
    {"InnoDB row lock waits (1/s):", NULL, 1, {"server_Innodb_row_lock_waits_per_s"}},
    {"server commits/rollbacks (1/s):",
     "commits/rollbacks per s",
     1,
     {"server_database_xact_commit_per_s", "server_database_xact_rollback_per_s"}},
    {"server blocks read/hit (1/s):",
     "blocks read/hit per s",
     1,
     {"server_database_blks_read_per_s", "server_database_blks_hit_per_s"}},
    {"WAL (MB/s):", "WAL MB/s", mb, {"server_wal_bytes_per_s"}},
};

static const struct part {
  const char *name;
  const struct row *row;
  size_t n;
  bool absent_is_zero; /* a figure that has not changed is absent, and is 0 */
} parts[BN_TEXT_WATCHED_LINES] = {{"host", host, sizeof host / sizeof *host, false},
                                  {"device", device, sizeof device / sizeof *device, false},
                                  {"server", server, sizeof server / sizeof *server, true}};

static const struct bn_watched_figure *watched_find(const struct bn_view *v, const char *name)
{
  for (size_t i = 0; i < v->n_watched; i++)
    if (strcmp(v->watched[i].name, name) == 0)
      return &v->watched[i];
  return NULL;
}

static bool watched_has_row(const struct bn_view *v, const struct row *r)
{
  for (size_t i = 0; i < ROW_FIGURES_MAX && r->name[i] != NULL; i++)
    if (watched_find(v, r->name[i]) != NULL)
      return true;
  return false;
}

/* Adds the figures of a row, such as "1.50/0.00/-". */
static void watched_add_values(struct bn_buf *out, const struct bn_view *v, const struct part *p,
                               const struct row *r)
{
  for (size_t i = 0; i < ROW_FIGURES_MAX && r->name[i] != NULL; i++) {
    const struct bn_watched_figure *f = watched_find(v, r->name[i]);
    const char *separator = i > 0 ? "/" : "";

    if (f != NULL || p->absent_is_zero)
      (void)bn_buf_printf(out, "%s%.2f", separator, f != NULL ? f->value / r->unit : 0);
    else
      (void)bn_buf_printf(out, "%s-", separator);
  }
}

/* Prints the rows of a part of which the view has a figure. */
static void watched_print_part(const struct bn_view *v, const struct part *p, FILE *out)
{
  struct bn_buf values = {.max = 0};

  for (size_t i = 0; i < p->n; i++) {
    if (!watched_has_row(v, &p->row[i]))
      continue;
    bn_buf_clear(&values);
    watched_add_values(&values, v, p, &p->row[i]);
    (void)fprintf(out, "    %-36s %s\n", p->row[i].label, values.data);
  }
  bn_buf_done(&values);
}

void bn_text_print_watched(const struct bn_view *v, FILE *out)
{
  if (v->n_watched == 0)
    return;
  (void)fputs("Watched:\n", out);
  for (size_t i = 0; i < BN_TEXT_WATCHED_LINES; i++)
    watched_print_part(v, &parts[i], out);
  (void)fputs("\n", out);
}

bool bn_text_add_watched_line(const struct bn_view *v, size_t i, struct bn_buf *out)
{
  const struct part *p = &parts[i];
  bool has_row = false;

  for (size_t k = 0; k < p->n; k++) {
    const struct row *r = &p->row[k];

    if (r->line_label == NULL || !watched_has_row(v, r))
      continue;
    (void)bn_buf_printf(out, "%s%s %s ", has_row ? "" : p->name, has_row ? "," : ":",
                        r->line_label);
    watched_add_values(out, v, p, r);
    has_row = true;
  }
  return has_row;
}

/* --- hosts of a run --------------------------------------------------------------------------- */

/* The figures that fit into a line; the document has all figures. */
static const struct column {
  const char *heading, *name;
  double unit; /* the figure is divided by it */
} host_columns[] = {{"user %", "host_user_percent", 1},
                    {"system %", "host_system_percent", 1},
                    {"softirq %", "host_softirq_percent", 1},
                    {"steal %", "host_steal_percent", 1},
                    {"iowait %", "host_iowait_percent", 1},
                    {"idle %", "host_idle_percent", 1},
                    {"switches/s", "host_context_switches_per_s", 1},
                    {"available MiB", "host_memory_available_bytes", mib},
                    {"received MB/s", "host_network_received_bytes_per_s", mb},
                    {"sent MB/s", "host_network_sent_bytes_per_s", mb}},
  device_columns[] = {{"reads/s", "device_reads_per_s", 1},
                      {"writes/s", "device_writes_per_s", 1},
                      {"flushes/s", "device_flushes_per_s", 1},
                      {"read MB/s", "device_read_bytes_per_s", mb},
                      {"written MB/s", "device_written_bytes_per_s", mb},
                      {"read ms", "device_read_await_ms", 1},
                      {"write ms", "device_write_await_ms", 1},
                      {"flush ms", "device_flush_await_ms", 1},
                      {"queue", "device_queue_length", 1},
                      {"busy %", "device_utilization_percent", 1}};

static const struct table {
  const char *title;
  const struct column *column;
  size_t n;
} tables[] = {
    {"Watched on each host", host_columns, sizeof host_columns / sizeof *host_columns},
    {"Watched devices of each host", device_columns,
     sizeof device_columns / sizeof *device_columns},
};

static const struct bn_watched_figure *watched_find_in_total(const struct bn_group *g,
                                                             const struct column *c)
{
  return g->has_total ? watched_find(&g->total.view, c->name) : NULL;
}

static bool watched_has_table(const struct table *t, const struct bn_group *g, size_t n)
{
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < t->n; k++)
      if (watched_find_in_total(&g[i], &t->column[k]) != NULL)
        return true;
  return false;
}

/* Returns the width of a column, in which its heading and "99999.99" fit. */
static int watched_column_width(const struct column *c)
{
  static const size_t width_min = sizeof "99999.99" - 1;
  const size_t len = strlen(c->heading);

  return (int)(len > width_min ? len : width_min);
}

/* Prints the line of a host, whose name comes last because it is of any length. */
static void watched_print_member(const struct table *t, const struct bn_group *g, FILE *out)
{
  char shown[BN_TEXT_MEMBER];

  (void)fputs("   ", out);
  for (size_t k = 0; k < t->n; k++) {
    const struct column *c = &t->column[k];
    const struct bn_watched_figure *f = watched_find_in_total(g, c);

    if (f != NULL)
      (void)fprintf(out, " %*.2f", watched_column_width(c), f->value / c->unit);
    else
      (void)fprintf(out, " %*s", watched_column_width(c), "-");
  }
  (void)fprintf(out, "  %s\n", bn_text_format_member(shown, g->member));
}

/* Prints a table with a line for each of the n hosts. */
static void watched_print_table(const struct table *t, const struct bn_group *g, size_t n,
                                FILE *out)
{
  (void)fprintf(out, "%s:\n   ", t->title);
  for (size_t k = 0; k < t->n; k++)
    (void)fprintf(out, " %*s", watched_column_width(&t->column[k]), t->column[k].heading);
  (void)fputs("  host\n", out);
  for (size_t i = 0; i < n; i++)
    watched_print_member(t, &g[i], out);
  (void)fputc('\n', out);
}

void bn_text_print_watched_members(const struct bn_group *g, size_t n, FILE *out)
{
  /* Sums of groups over hosts come first, and are no hosts. */
  const size_t n_sums = bn_text_count_sums(g, n), n_hosts = n - n_sums;
  const struct bn_group *hosts = g + n_sums;

  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (watched_has_table(&tables[i], hosts, n_hosts))
      watched_print_table(&tables[i], hosts, n_hosts, out);
}
