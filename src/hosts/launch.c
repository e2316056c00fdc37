/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the command line of each host's shell and starts it, or asks the launcher's process. */
#include "hosts/launch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"
#include "option/words.h"

/* The shell's words, the host, and the command: the program's name is one word there as here. */
static int make_command(const struct bn_fleet *f, const char *host, struct bn_list *out,
                        struct bn_err *err)
{
  const struct bn_conf_raw *r = &f->setup->conf->raw;

  if (bn_words_split(r->hosts_shell, out, err) != 0)
    return -1;
  if (out->n == 0)
    return bn_err_set(err, EINVAL, "--hosts-shell is empty; leave it out to use ssh");
  if (bn_words_add(out, host) != 0 || bn_words_add(out, r->hosts_program) != 0 ||
      bn_words_add(out, "--agent") != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  return 0;
}

/* A list that ends with NULL, borrowed from the words. */
static char **vector_of(const struct bn_list *words)
{
  char **argv = calloc(words->n + 1, sizeof *argv);

  for (size_t i = 0; argv != NULL && i < words->n; i++)
    argv[i] = words->item[i];
  return argv;
}

/* The agent of rank 0, a child of this process that shares its standard error. */
static int start_own_agent(struct bn_fleet *f, struct bn_connection *p, struct bn_err *err)
{
  char *program = bn_spawn_self(err);
  char *argv[] = {program, (char[]){"--agent"}, NULL};
  const int rc = program != NULL ? bn_link_start(&p->link, p->name, argv, STDERR_FILENO,
                                                 &f->stop_signal.before, err)
                                 : -1;

  free(program);
  return rc;
}

/* By the launcher's processes, or by the shell. */
static int reach_host(struct bn_fleet *f, struct bn_connection *p, struct bn_err *err)
{
  struct bn_list words = {.n = 0};
  char **argv = NULL;
  int rc = -1;

  if (p->rank == 0)
    return start_own_agent(f, p, err);
  if (p->rank > 0)
    return bn_link_join(&p->link, p->name, f->setup->ranks->request, (uint32_t)p->rank, err);
  if (make_command(f, p->name, &words, err) == 0) {
    argv = vector_of(&words);
    rc = argv != NULL ? bn_link_start(&p->link, p->name, argv, -1, &f->stop_signal.before, err)
                      : bn_err_set(err, ENOMEM, "out of memory");
  }
  free(argv);
  bn_words_done(&words);
  return rc;
}

static int begin_host(struct bn_fleet *f, size_t i, struct bn_err *err)
{
  struct bn_connection *p = &f->connection[i];
  struct bn_handshake handshake = {.version = strdup(PACKAGE_VERSION),
                                   .host = (unsigned)i,
                                   .hosts = (unsigned)f->list.n,
                                   .first_session = p->work.first_session,
                                   .sessions = f->sessions};
  int rc = -1;

  if (handshake.version == NULL ||
      bn_arguments_argv(&f->arguments, &p->work, &handshake.argv) != 0 ||
      bn_handshake_take_environment(&handshake) != 0)
    (void)bn_err_set(err, ENOMEM, "out of memory");
  else if (reach_host(f, p, err) == 0)
    rc = bn_connection_begin(p, &handshake, &f->arguments.files, err);
  bn_handshake_done(&handshake);
  return rc;
}

/* That were not started, which has been told. */
static void forget_others(struct bn_fleet *f)
{
  for (size_t i = 0; i < f->n; i++)
    if (f->connection[i].link.in < 0) {
      f->connection[i].state = BN_CONNECTION_LOST;
      bn_intervals_end(&f->intervals, i);
    }
}

int bn_launch(struct bn_fleet *f, size_t first, struct bn_err *err)
{
  int rc = 0;

  for (size_t i = first; rc == 0 && i < f->n; i++)
    rc = begin_host(f, i, err);
  if (rc != 0)
    forget_others(f);
  if (rc != 0 || f->n == f->list.n)
    bn_arguments_done(&f->arguments);
  bn_fleet_enter(f, BN_FLEET_CONNECT);
  return rc;
}
