/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages by MPI, a module: it is built once for each implementation, whose name is
   BN_CARRIER_NAME.

   No call waits in the library, which would use a whole processor for it. */
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/carrier.h"

enum { TAG = 1 };

/* A message on its way to a rank. */
struct outgoing {
  MPI_Request request;
  char data[BN_CARRIER_MAX];
};

struct mpi {
  int ranks;
  struct outgoing *to; /* owned; [ranks] */
  MPI_Request request; /* of what comes; MPI_REQUEST_NULL: it has to be asked for again */
  char data[BN_CARRIER_MAX];
};

/* Asks the library for the next message, without waiting for it. */
static int mpi_await_message(struct mpi *m)
{
  return MPI_Irecv(m->data, BN_CARRIER_MAX, MPI_BYTE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                   &m->request);
}

static void mpi_free_state(struct mpi *m)
{
  if (m != NULL)
    free(m->to);
  free(m);
}

static struct mpi *mpi_new_state(int ranks)
{
  struct mpi *m = calloc(1, sizeof *m);

  if (m != NULL)
    m->to = calloc((size_t)ranks, sizeof *m->to);
  if (m == NULL || m->to == NULL) {
    mpi_free_state(m);
    return NULL;
  }
  m->ranks = ranks;
  m->request = MPI_REQUEST_NULL;
  for (int i = 0; i < ranks; i++)
    m->to[i].request = MPI_REQUEST_NULL;
  return m;
}

static void *mpi_begin(unsigned *rank, unsigned *ranks, struct bn_err *err)
{
  int level, me = 0, n = 0;
  struct mpi *m = NULL;

  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS ||
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
      MPI_Comm_rank(MPI_COMM_WORLD, &me) != MPI_SUCCESS ||
      MPI_Comm_size(MPI_COMM_WORLD, &n) != MPI_SUCCESS) {
    (void)bn_err_set(err, 0, "cannot start MPI (%s)", BN_CARRIER_NAME);
    return NULL;
  }
  *rank = (unsigned)me;
  *ranks = (unsigned)n;
  m = mpi_new_state(n);
  if (m != NULL && mpi_await_message(m) == MPI_SUCCESS)
    return m;
  (void)bn_err_set(err, ENOMEM, "out of memory for MPI (%s)", BN_CARRIER_NAME);
  mpi_free_state(m);
  return NULL;
}

static bool mpi_ready(void *self, unsigned rank)
{
  struct mpi *m = self;
  int done = 0;

  return MPI_Test(&m->to[rank].request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
}

static int mpi_send_message(void *self, unsigned rank, const void *data, size_t len)
{
  struct mpi *m = self;
  struct outgoing *o = &m->to[rank];

  memcpy(o->data, data, len);
  if (MPI_Isend(o->data, (int)len, MPI_BYTE, (int)rank, TAG, MPI_COMM_WORLD, &o->request) !=
      MPI_SUCCESS)
    return -1;
  return 0;
}

static int mpi_receive(void *self, unsigned *rank, const char **data)
{
  struct mpi *m = self;
  MPI_Status status;
  int done = 0, len = 0;

  if (m->request == MPI_REQUEST_NULL && mpi_await_message(m) != MPI_SUCCESS)
    return -1;
  if (MPI_Test(&m->request, &done, &status) != MPI_SUCCESS)
    return -1;
  if (done == 0)
    return 0;
  if (MPI_Get_count(&status, MPI_BYTE, &len) != MPI_SUCCESS || len <= 0)
    return -1;
  *rank = (unsigned)status.MPI_SOURCE;
  *data = m->data;
  return len;
}

/* Waits until all ranks have come here.  Returns the largest of their numbers. */
static double mpi_meet(double number)
{
  static const struct timespec glance = {.tv_nsec = 1000000};
  MPI_Request request = MPI_REQUEST_NULL;
  double largest = number;
  int done = 0;

  if (MPI_Iallreduce(&number, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request) !=
      MPI_SUCCESS)
    return number;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0)
    (void)nanosleep(&glance, NULL);
  return largest;
}

/* In MPI_Finalize(), MPICH up to 4.1 waits until the other ranks have answered over UCX, and then
   answers nobody any more: a rank that begins later waits for ever.  So nobody answers before it
   has begun itself.  All ranks meet, meet again to learn how long that takes, and sleep for so long
   that the last one has stopped to listen when the first one begins.  Open MPI meets by itself. */
static void mpi_begin_end_together(void)
{
  enum { LEAST_MS = 20, MOST_MS = 900, TIMES = 2 };
  double since_s, ms;

  if (strcmp(BN_CARRIER_NAME, "mpich") != 0)
    return;
  (void)mpi_meet(0);
  since_s = MPI_Wtime();
  (void)mpi_meet(0);
  ms = mpi_meet(MPI_Wtime() - since_s) * 1e3 * TIMES + LEAST_MS;

  const struct timespec pause = {.tv_nsec = (long)((ms < MOST_MS ? ms : MOST_MS) * 1e6)};

  (void)nanosleep(&pause, NULL);
}

static void mpi_end(void *self)
{
  struct mpi *m = self;

  if (m->request != MPI_REQUEST_NULL) {
    (void)MPI_Cancel(&m->request);
    (void)MPI_Wait(&m->request, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < m->ranks; i++)
    (void)MPI_Wait(&m->to[i].request, MPI_STATUS_IGNORE);
  mpi_begin_end_together();
  (void)MPI_Finalize();
  mpi_free_state(m);
}

__attribute__((visibility("default"))) extern const struct bn_carrier bench_carrier;
const struct bn_carrier bench_carrier = {
    .abi = BN_CARRIER_ABI,
    .size = sizeof(struct bn_carrier),
    .name = BN_CARRIER_NAME,
    .begin = mpi_begin,
    .ready = mpi_ready,
    .send = mpi_send_message,
    .receive = mpi_receive,
    .end = mpi_end,
};
