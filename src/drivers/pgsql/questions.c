/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The questions to PostgreSQL for the facts of a run. */
#include "drivers/pgsql/driver.h"

const struct bn_sql_question bn_pgsql_questions[] = {
    {"server",
     "SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('fsync', "
     "'synchronous_commit', 'full_page_writes', 'wal_level', 'wal_sync_method', "
     "'wal_compression', 'wal_buffers', 'max_wal_size', 'min_wal_size', 'commit_delay', "
     "'checkpoint_timeout', 'checkpoint_completion_target', 'synchronous_standby_names', "
     "'hot_standby', 'shared_buffers', 'effective_cache_size', 'work_mem', "
     "'maintenance_work_mem', 'huge_pages', 'temp_buffers', 'autovacuum', 'autovacuum_naptime', "
     "'autovacuum_max_workers', 'autovacuum_vacuum_scale_factor', "
     "'autovacuum_vacuum_cost_limit', 'autovacuum_vacuum_cost_delay', 'bgwriter_delay', "
     "'bgwriter_lru_maxpages', 'random_page_cost', 'effective_io_concurrency', 'io_method', "
     "'jit', 'plan_cache_mode', 'max_worker_processes', 'max_parallel_workers_per_gather', "
     "'track_io_timing', 'track_activities', 'shared_preload_libraries', 'max_connections', "
     "'data_checksums', 'block_size', 'wal_segment_size', 'server_encoding', 'search_path', "
     "'statement_timeout', 'lock_timeout')"},
    {"server", "SELECT 'isolation', current_setting('transaction_isolation')"},
    {"server", "SELECT 'on_this_host', 'yes' WHERE coalesce(inet_server_addr() = "
               "inet_client_addr(), true)"},
    {"server", "SELECT 'role', CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END"},
    {"server", "SELECT 'standbys', count(*) FROM pg_stat_replication"},
    {"data", "SELECT 'engine', string_agg(DISTINCT amname, ',') FROM pg_class c JOIN pg_am a ON "
             "a.oid = c.relam WHERE relkind = 'r' AND relnamespace = "
             "current_schema()::regnamespace"},
    {"data", "SELECT 'bytes', sum(pg_table_size(oid)) FROM pg_class WHERE relkind IN ('r', 'm') "
             "AND relnamespace = current_schema()::regnamespace"},
    {"data", "SELECT 'index_bytes', sum(pg_indexes_size(oid)) FROM pg_class WHERE relkind IN "
             "('r', 'm') AND relnamespace = current_schema()::regnamespace"},
    {.section = NULL},
};
