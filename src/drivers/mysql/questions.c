/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The questions to MySQL and MariaDB for the facts of a run; each of the two has variables that the
   other one lacks. */
#include "drivers/mysql/driver.h"

#define OF_TABLES " FROM information_schema.tables WHERE table_schema = DATABASE()"

const struct bn_sql_question bn_mysql_questions[] = {
    {"server",
     "SHOW VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', 'sync_binlog', "
     "'innodb_doublewrite', 'innodb_flush_method', 'innodb_use_native_aio', 'aria_sync_log_dir', "
     "'log_bin', 'binlog_format', 'binlog_row_image', 'gtid_mode', 'gtid_strict_mode', "
     "'rpl_semi_sync_master_enabled', 'rpl_semi_sync_source_enabled', 'wsrep_on', 'read_only', "
     "'super_read_only', 'innodb_buffer_pool_size', 'innodb_log_file_size', "
     "'innodb_redo_log_capacity', 'innodb_log_buffer_size', 'innodb_io_capacity', "
     "'innodb_io_capacity_max', 'innodb_page_size', 'innodb_flush_neighbors', "
     "'innodb_adaptive_hash_index', 'innodb_change_buffering', 'innodb_thread_concurrency', "
     "'innodb_lock_wait_timeout', 'innodb_autoinc_lock_mode', 'thread_handling', "
     "'thread_cache_size', 'table_open_cache', 'max_connections', 'query_cache_type', "
     "'query_cache_size', 'performance_schema', 'slow_query_log', 'general_log', 'autocommit', "
     "'sql_mode', 'character_set_server', 'default_storage_engine', 'hostname')"},
    {"server", "SELECT 'isolation', @@transaction_isolation"},
    {"server", "SELECT 'isolation', @@tx_isolation"}, /* MariaDB before 11.1 */
    {"server", "SELECT 'on_this_host', 'yes' FROM DUAL WHERE SUBSTRING_INDEX(USER(), '@', -1) IN "
               "('localhost', '127.0.0.1', '::1', @@hostname)"},
    /* Without the privilege PROCESS, nothing is known of others' connections. */
    {"server",
     "SELECT 'role', CASE WHEN EXISTS (SELECT 1 FROM information_schema.processlist WHERE "
     "user = 'system user' AND command IN ('Slave_IO', 'Slave_SQL', 'Slave_worker', 'Connect', "
     "'Query')) THEN 'replica' WHEN EXISTS (SELECT 1 FROM information_schema.processlist WHERE "
     "command LIKE 'Binlog Dump%') THEN 'source' ELSE 'alone' END FROM DUAL WHERE EXISTS "
     "(SELECT 1 FROM information_schema.user_privileges WHERE privilege_type = 'PROCESS')"},
    {"data", "SELECT 'engine', GROUP_CONCAT(DISTINCT engine ORDER BY engine)" OF_TABLES
             " UNION ALL SELECT 'bytes', SUM(data_length)" OF_TABLES
             " UNION ALL SELECT 'index_bytes', SUM(index_length)" OF_TABLES},
    {.section = NULL},
};
