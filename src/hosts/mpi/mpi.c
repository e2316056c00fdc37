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
  MPI_Request request; /* of the next message; MPI_REQUEST_NULL: it has not been asked for */
  char data[BN_CARRIER_MAX];
};

/* Asks the library for the next message, without waiting for it.  Returns an error code of MPI. */
static int mpi_begin_receive(struct mpi *m)
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

/* Returns the state without messages on their way, or NULL if out of memory. */
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

/* Starts the library, whose errors are returned from now on and do not end the process.  Returns
   the state, or NULL and err. */
static void *mpi_begin(unsigned *rank, unsigned *ranks, struct bn_err *err)
{
  int level; /* not used: any level will do, because one thread makes all calls */
  int own_rank = 0, n_ranks = 0;
  struct mpi *m;

  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS ||
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
      MPI_Comm_rank(MPI_COMM_WORLD, &own_rank) != MPI_SUCCESS ||
      MPI_Comm_size(MPI_COMM_WORLD, &n_ranks) != MPI_SUCCESS) {
    (void)bn_err_set(err, 0, "cannot start MPI (%s)", BN_CARRIER_NAME);
    return NULL;
  }
  *rank = (unsigned)own_rank;
  *ranks = (unsigned)n_ranks;
  m = mpi_new_state(n_ranks);
  if (m != NULL && mpi_begin_receive(m) == MPI_SUCCESS)
    return m;
  (void)bn_err_set(err, ENOMEM, "out of memory for MPI (%s)", BN_CARRIER_NAME);
  mpi_free_state(m);
  return NULL;
}

/* Returns whether the last message to the rank has left its buffer, which the next one needs. */
static bool mpi_is_ready(void *self, unsigned rank)
{
  struct mpi *m = self;
  int done = 0;

  return MPI_Test(&m->to[rank].request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
}

/* Sends a copy of the message to a rank for which mpi_is_ready() is true.  Returns 0 or -1. */
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

/* Stores the message that has come, and returns its length, 0 if none has, or -1 if the library has
   failed.  *data is valid until the next call, which lets the library receive into it again: a
   request that MPI_Test() has completed is MPI_REQUEST_NULL. */
static int mpi_receive(void *self, unsigned *rank, const char **data)
{
  struct mpi *m = self;
  MPI_Status status;
  int done = 0, len = 0;

  if (m->request == MPI_REQUEST_NULL && mpi_begin_receive(m) != MPI_SUCCESS)
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

/* Waits until all ranks have called this, and returns the largest of their numbers, or `number` if
   the library fails. */
static double mpi_find_largest(double number)
{
  static const struct timespec poll_interval = {.tv_nsec = 1000000}; /* 1 ms */
  MPI_Request request = MPI_REQUEST_NULL;
  double largest = number;
  int done = 0;

  if (MPI_Iallreduce(&number, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request) !=
      MPI_SUCCESS)
    return number;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0)
    (void)nanosleep(&poll_interval, NULL);
  return largest;
}

/* Has all ranks call MPI_Finalize() at about the same time with MPICH; Open MPI does that itself.
   In MPI_Finalize(), MPICH up to 4.1 waits over UCX for answers of the other ranks, and then
   answers nobody any more: a rank that calls it later waits for ever.  Ranks that are still in an
   exchange answer too early, so all ranks have to be out of it when the first one calls
   MPI_Finalize().  They make an exchange to begin together, a second one to measure how long one
   takes, and a third one to agree on the longest time.  Then each sleeps for twice that time and a
   bit more. */
static void mpi_end_together(void)
{
  enum { MARGIN_MS = 20, MAX_MS = 900 /* tv_nsec is below a second */, EXCHANGES = 2 };
  double start_s, ms;

  if (strcmp(BN_CARRIER_NAME, "mpich") != 0)
    return;
  (void)mpi_find_largest(0);
  start_s = MPI_Wtime();
  (void)mpi_find_largest(0);
  ms = mpi_find_largest(MPI_Wtime() - start_s) * 1e3 * EXCHANGES + MARGIN_MS;

  const struct timespec pause = {.tv_nsec = (long)((ms < MAX_MS ? ms : MAX_MS) * 1e6)};

  (void)nanosleep(&pause, NULL);
}

/* Ends the library, and frees the state.  Cancels the receipt of the next message, and waits until
   the messages on their way have left. */
static void mpi_end(void *self)
{
  struct mpi *m = self;

  if (m->request != MPI_REQUEST_NULL) {
    (void)MPI_Cancel(&m->request);
    (void)MPI_Wait(&m->request, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < m->ranks; i++)
    (void)MPI_Wait(&m->to[i].request, MPI_STATUS_IGNORE);
  mpi_end_together();
  (void)MPI_Finalize();
  mpi_free_state(m);
}

__attribute__((visibility("default"))) extern const struct bn_carrier bench_carrier;
const struct bn_carrier bench_carrier = {
    .abi = BN_CARRIER_ABI,
    .size = sizeof(struct bn_carrier),
    .name = BN_CARRIER_NAME,
    .begin = mpi_begin,
    .ready = mpi_is_ready,
    .send = mpi_send_message,
    .receive = mpi_receive,
    .end = mpi_end,
};
