/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel alone takes of a client: a thread for each connection sends a request, sleeps,
   and reads the answer, as often as it can.

     floor SECONDS LENGTH FD...
       FD...: sockets that are logged in.  Standard input holds the request; its answers have LENGTH
       bytes each.  Prints the processor time of a round trip in us.  */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_LENGTH = 65536, MAX_CONNECTIONS = 1024 };

static char request[4096];
static size_t request_length, answer_length;
static atomic_bool over;
static atomic_ulong round_trips;

static void give_up(const char *what)
{
  perror(what);
  exit(2);
}

static double processor_us(void)
{
  struct rusage r;

  (void)getrusage(RUSAGE_SELF, &r);
  return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e6 +
         (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static void *converse(void *arg)
{
  const int fd = *(const int *)arg;
  char answer[MAX_LENGTH];
  unsigned long n = 0;

  for (; !atomic_load_explicit(&over, memory_order_relaxed); n++) {
    if (send(fd, request, request_length, MSG_NOSIGNAL) != (ssize_t)request_length)
      give_up("send");
    /* recv() would be woken twice on a Unix socket: also when the server takes the request. */
    (void)poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
    for (size_t got = 0; got < answer_length;) {
      const ssize_t more = recv(fd, answer, sizeof answer, 0);

      if (more <= 0)
        give_up("recv");
      got += (size_t)more;
    }
  }
  atomic_fetch_add(&round_trips, n);
  return NULL;
}

int main(int argc, char **argv)
{
  const int n = argc - 3;
  pthread_t thread[MAX_CONNECTIONS];
  int fd[MAX_CONNECTIONS];
  ssize_t length;
  double from;

  if (n < 1 || n > MAX_CONNECTIONS) {
    (void)fprintf(stderr, "usage: floor SECONDS LENGTH FD... <REQUEST\n");
    return 2;
  }
  length = read(STDIN_FILENO, request, sizeof request);
  if (length <= 0)
    give_up("the request");
  request_length = (size_t)length;
  answer_length = strtoul(argv[2], NULL, 10);
  from = processor_us();
  for (int i = 0; i < n; i++) {
    fd[i] = (int)strtol(argv[3 + i], NULL, 10);
    if (pthread_create(&thread[i], NULL, converse, &fd[i]) != 0)
      give_up("pthread_create");
  }
  (void)sleep((unsigned)strtoul(argv[1], NULL, 10));
  atomic_store(&over, true);
  for (int i = 0; i < n; i++)
    (void)pthread_join(thread[i], NULL);
  (void)printf("%.2f\n", (processor_us() - from) / (double)atomic_load(&round_trips));
  return 0;
}
