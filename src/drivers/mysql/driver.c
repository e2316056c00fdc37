/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The MySQL driver: start, end and the table of hooks. */
#include "drivers/mysql/driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/common/names.h"
#include "drivers/common/remedy.h"
#include "drivers/common/secret.h"
#include "drivers/mysql/conn.h"
#include "drivers/mysql/error.h"

/* The default of --mysql-port, and the largest port. */
enum { PORT_DEFAULT = 3306, PORT_MAX = 65535 };

/* Chooses hosts and sockets.  If --mysql-host was given, the options alone decide.  Else the host
   of the option file replaces the default.  Its socket is used if --mysql-socket was not given and
   the host is "localhost": a socket reaches no other host. */
static void driver_choose_places(struct bn_mysql *driver)
{
  const struct bn_mysql_conf *conf = driver->conf;
  struct bn_mysql_defaults *file = &driver->file;
  bool is_localhost;

  driver->hosts = &conf->host;
  driver->sockets = &conf->socket;
  if (conf->host_given)
    return;
  if (file->host != NULL) {
    driver->file_host = (struct bn_list){.item = &file->host, .n = 1};
    driver->hosts = &driver->file_host;
  }
  is_localhost = driver->hosts->n == 1 && strcmp(driver->hosts->item[0], BN_MYSQL_HOST) == 0;
  if (file->socket != NULL && conf->socket.n == 0 && is_localhost) {
    driver->file_socket = (struct bn_list){.item = &file->socket, .n = 1};
    driver->sockets = &driver->file_socket;
  }
}

/* Chooses the mode of encryption: the option's or, if it was not given, that of the option file.
   Returns 0, or -1 and err if the file has an unknown word. */
static int driver_choose_ssl(struct bn_mysql *driver, struct bn_err *err)
{
  const char *word = driver->file.ssl_mode;
  int choice = driver->conf->ssl;

  if (word != NULL && !driver->conf->ssl_given) {
    choice = bn_mysql_find_ssl_choice(word);
    if (choice < 0)
      return bn_err_set(err, EINVAL,
                        "%s: ssl-mode=%s: unknown; allowed: disabled, preferred, required, "
                        "verify_ca, verify_identity",
                        driver->conf->defaults_file, word);
  }
  driver->ssl = bn_mysql_ssl_mode_of(choice);
  return 0;
}

/* Reads the ports of the option or, if it was not given, of the option file.  If none is named,
   there is one port 0, by which the library takes its default.  Returns 0, or -1 and err. */
static int driver_parse_ports(struct bn_mysql *driver, struct bn_err *err)
{
  struct bn_list file_port = {.item = &driver->file.port, .n = 1};
  const bool from_file = driver->file.port != NULL && !driver->conf->port_given;
  const struct bn_list *list = from_file ? &file_port : &driver->conf->port;

  driver->n_ports = list->n > 0 ? list->n : 1;
  driver->port = driver->host->alloc(driver->n_ports, sizeof *driver->port);
  for (size_t i = 0; i < list->n; i++) {
    char *end;
    const unsigned long port = strtoul(list->item[i], &end, 10);

    if (*end != '\0' || port > PORT_MAX)
      return bn_err_set(err, EINVAL, "Invalid value for %s: '%s'",
                        from_file ? "the port in --mysql-defaults-file" : "--mysql-port",
                        list->item[i]);
    driver->port[i] = (unsigned)port;
  }
  return 0;
}

/* Refuses bench's own protocol with an option that needs the library's.  Returns 0, or -1 and
   err. */
static int driver_check_protocol(const struct bn_mysql_conf *conf, struct bn_err *err)
{
  const char *option = bn_mysql_find_library_option(conf);

  if (conf->protocol != BN_PROTOCOL_OWN || option == NULL)
    return 0;
  return bn_err_set(err, EINVAL,
                    "--mysql-protocol=own cannot be used with %s: leave one of them out", option);
}

/* Checks what the table of options cannot check.  Returns 0, or -1 and err. */
static int driver_check_conf(const struct bn_mysql_conf *conf, const struct bn_policy *policy,
                             struct bn_err *err)
{
  if (conf->socket.n == 0 && conf->host.n == 0)
    return bn_err_set(err, EINVAL, "No MySQL hosts specified, aborting");
  /* In 0.5 the port is one number, and without it the client library uses its default. */
  if (conf->socket.n == 0 && conf->port.n == 0 && !policy->mysql_zero_port)
    return bn_err_set(err, EINVAL, "No MySQL ports specified, aborting");
  if (bn_remedy_check_hosts(conf->host.item, conf->host.n, "mysql", policy, err) != 0)
    return -1;
  return driver_check_protocol(conf, err);
}

/* Warns that the library connects to its default socket, if the user names "localhost" and a single
   port other than the default.  With several ports the library is told to use TCP.  Dialects do not
   warn, as sysbench does not. */
static void driver_warn_of_localhost(const struct bn_mysql *driver)
{
  const bool names_other_port =
      driver->conf->port_given && driver->n_ports == 1 && driver->port[0] != PORT_DEFAULT;
  char text[256];

  if (!bn_policy_is_native(driver->host->policy) || driver->sockets->n > 0 || !names_other_port)
    return;
  for (size_t i = 0; i < driver->hosts->n; i++)
    if (strcmp(driver->hosts->item[i], BN_MYSQL_HOST) == 0) {
      (void)snprintf(text, sizeof text,
                     "MySQL's client library reaches 'localhost' by its default socket, whatever "
                     "the port is; for port %u, write 127.0.0.1",
                     driver->port[0]);
      driver->host->notice(text);
      return;
    }
}

/* Frees the state of the driver, which driver_configure may have made in part. */
static void driver_free(struct bn_mysql *driver)
{
  bn_mysql_defaults_free(&driver->file);
  bn_secret_free(driver->password);
  bn_names_free(driver->names);
  free(driver->port);
  free(driver);
}

static void driver_done(void *self)
{
  struct bn_mysql *driver = self;

  if (!driver->conf->dry_run)
    bn_mysql_lib_end();
  driver_free(driver);
}

/* Returns whether the password comes from the terminal or from --mysql-password-file.  A password
   on the command line comes first, unless it is empty. */
static bool driver_obtains_password(const struct bn_mysql_conf *conf)
{
  const bool is_given = conf->password != NULL && conf->password[0] != '\0';

  return !is_given && (conf->password_prompt || conf->password_file != NULL);
}

/* Returns the first password that exists: of the option, even if it is empty; of the option file;
   of the environment.  Returns NULL if there is none. */
static const char *driver_find_known_password(const struct bn_mysql *driver)
{
  if (driver->conf->password != NULL)
    return driver->conf->password;
  return driver->file.password != NULL ? driver->file.password : getenv("MYSQL_PWD");
}

/* Finds user and password.  The user of the option file replaces the default of --mysql-user.  A
   password of the prompt comes before that of --mysql-password-file, and both come before those
   that driver_find_known_password finds.  Returns 0, or -1 and err. */
static int driver_find_account(struct bn_mysql *driver, struct bn_err *err)
{
  const struct bn_mysql_conf *conf = driver->conf;
  const char *question = conf->password_prompt ? "MySQL password" : NULL, *password;

  if (driver->file.user != NULL && !conf->user_given)
    driver->user = driver->file.user;
  else
    driver->user = conf->user;
  if (driver_obtains_password(conf))
    return bn_secret_get(question, conf->password_file, driver->host, &driver->password, err);
  password = driver_find_known_password(driver);
  if (password != NULL)
    driver->password = driver->host->text(password);
  return 0;
}

/* Chooses places, encryption, ports and account from the options and the option file, before
   bn_mysql_lib_start, which reads driver->ssl.  Returns 0, or -1 and err. */
static int driver_configure(struct bn_mysql *driver, struct bn_err *err)
{
  const char *path = driver->conf->defaults_file;

  if (path != NULL && bn_mysql_defaults_read(&driver->file, driver->host, path, err) != 0)
    return -1;
  driver_choose_places(driver);
  if (driver_choose_ssl(driver, err) != 0 || driver_parse_ports(driver, err) != 0)
    return -1;
  if (!driver->conf->dry_run)
    driver_warn_of_localhost(driver);
  return driver_find_account(driver, err);
}

/* Makes the driver's state and starts the client library, unless the run is dry.  Returns 0, or -1
   and err. */
static int driver_init(void **self, const void *conf, const struct bn_driver_host *host,
                       struct bn_err *err)
{
  struct bn_mysql *driver;

  if (driver_check_conf(conf, host->policy, err) != 0)
    return -1;
  driver = host->alloc(1, sizeof *driver);
  driver->conf = conf;
  driver->host = host;
  driver->names = bn_names_new(host);
  if (driver->conf->debug)
    host->verbosity(BN_MYSQL_LEVEL_DEBUG);
  if (driver_configure(driver, err) != 0) {
    driver_free(driver);
    return -1;
  }
  if (!driver->conf->dry_run && bn_mysql_lib_start(driver) != 0) {
    driver_free(driver);
    return bn_err_set(err, 0, "cannot start the MySQL client library");
  }
  *self = driver;
  return 0;
}

static int driver_thread_init(void *self)
{
  const struct bn_mysql *driver = self;

  return driver->conf->dry_run ? 0 : bn_mysql_lib_thread_start(driver);
}

static void driver_thread_done(void *self)
{
  const struct bn_mysql *driver = self;

  if (!driver->conf->dry_run)
    bn_mysql_lib_thread_end(driver);
}

static struct bn_sql_caps driver_caps(void)
{
  return (struct bn_sql_caps){.syntax = BN_SYNTAX_MYSQL};
}

static const char *const isolation[BN_ISOLATIONS] = {
    [BN_ISOLATION_READ_UNCOMMITTED] = "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
    [BN_ISOLATION_READ_COMMITTED] = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    [BN_ISOLATION_REPEATABLE_READ] = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    [BN_ISOLATION_SERIALIZABLE] = "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
};

static const char *const texts[BN_STEPS] = {
    [BN_STEP_CONNECT] = "unable to connect to MySQL server%w, aborting...\nerror %e: %m",
    [BN_STEP_PREPARE] = "%c failed\nMySQL error: %e \"%m\"",
    [BN_STEP_BIND] = "%m",
    [BN_STEP_QUERY] = "%c returned error %e (%m) for query '%q'",
};

static const char *const gauges[] = {"Threads_connected",
                                     "Threads_running",
                                     "Threads_cached",
                                     "Threadpool_threads",
                                     "Threadpool_idle_threads",
                                     "Max_used_connections",
                                     "Open_files",
                                     "Open_tables",
                                     "Open_table_definitions",
                                     "Prepared_stmt_count",
                                     "Memory_used",
                                     "Global_connection_memory",
                                     "Innodb_buffer_pool_pages_data",
                                     "Innodb_buffer_pool_pages_dirty",
                                     "Innodb_buffer_pool_pages_free",
                                     "Innodb_buffer_pool_pages_misc",
                                     "Innodb_buffer_pool_bytes_data",
                                     "Innodb_buffer_pool_bytes_dirty",
                                     "Innodb_num_open_files",
                                     "Innodb_row_lock_current_waits",
                                     "Innodb_row_lock_time_avg",
                                     "Innodb_row_lock_time_max",
                                     "Innodb_redo_log_logical_size",
                                     "Innodb_redo_log_physical_size",
                                     "Innodb_checkpoint_age",
                                     "Innodb_history_list_length",
                                     "wsrep_local_recv_queue",
                                     "wsrep_local_send_queue",
                                     NULL};

/* MariaDB's library reports the end of an encrypted connection as an error of encryption. */
static const struct bn_sql_named silence[] = {
    {BN_MYSQL_GONE, "HY000"}, {BN_MYSQL_LOST, "HY000"}, {BN_MYSQL_ENCRYPTION, "HY000"}, {0, NULL}};

__attribute__((visibility("default"))) const struct bn_driver bench_driver = {
    .abi = BN_DRIVER_ABI,
    .size = sizeof(struct bn_driver),
    .name = "mysql",
    .title = "MySQL driver",
    .options = bn_mysql_options,
    .conf_size = sizeof(struct bn_mysql_conf),
    .conn_size = sizeof(struct bn_mysql_conn),
    .stmt_size = sizeof(struct bn_mysql_stmt),
    .init = driver_init,
    .done = driver_done,
    .thread_init = driver_thread_init,
    .thread_done = driver_thread_done,
    .connect = bn_mysql_connect,
    .disconnect = bn_mysql_disconnect,
    .caps = driver_caps,
    .classify = bn_mysql_classify,
    .ignore = {.option = "mysql-ignore-errors", .key = BN_KEY_CODE},
    .interrupt = bn_mysql_interrupt,
    .about = bn_mysql_about,
    .info = bn_mysql_info,
    .quote = bn_mysql_quote,
    .query = bn_mysql_query,
    .prepare = bn_mysql_prepare,
    .bind = bn_mysql_bind,
    .execute = bn_mysql_execute,
    .next = bn_mysql_next,
    .fetch = bn_mysql_fetch,
    .free_result = bn_mysql_free_result,
    .close = bn_mysql_close,
    .load_begin = bn_mysql_load_begin,
    .load_rows = bn_mysql_load_rows,
    .load_end = bn_mysql_load_end,
    .texts = texts,
    .isolation = isolation,
    .unread = bn_mysql_unread,
    .missing = bn_mysql_missing,
    .fails_as_text = bn_mysql_fails_as_text,
    .prepare_all = bn_mysql_prepare_all,
    .place = bn_mysql_place,
    .transaction = bn_mysql_transaction,
    .remedy = bn_mysql_remedy,
    .silence = silence,
    .counters = {{"SHOW GLOBAL STATUS", false}},
    .folder_sql = "SELECT @@hostname, @@datadir",
    .questions = bn_mysql_questions,
    .gauges = gauges,
    .waits = true,
};
