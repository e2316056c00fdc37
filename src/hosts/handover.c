/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends and takes descriptors beside a number. */
#include "hosts/handover.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hosts/pipe.h"

enum { IN_END, OUT_END, ENDS };

/* The room for the descriptors of a message, aligned as the kernel wants it. */
union control_room {
  struct cmsghdr head;
  char data[CMSG_SPACE(ENDS * sizeof(int))];
};

int bn_handover_make_socket(int end[2])
{
  return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, end);
}

/* Puts the ends of pipes into the control part of a message, for which it has `room`. */
static void handover_attach_ends(struct msghdr *m, union control_room *room,
                                 const struct bn_handover *h)
{
  const int ends[ENDS] = {[IN_END] = h->in, [OUT_END] = h->out};
  struct cmsghdr *c;

  memset(room, 0, sizeof *room);
  m->msg_control = room->data;
  m->msg_controllen = sizeof room->data;
  c = CMSG_FIRSTHDR(m);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof ends);
  memcpy(CMSG_DATA(c), ends, sizeof ends);
}

int bn_handover_send(int socket, const struct bn_handover *h)
{
  uint32_t number = h->number;
  struct iovec payload = {&number, sizeof number};
  struct msghdr m = {.msg_iov = &payload, .msg_iovlen = 1};
  union control_room room;
  ssize_t n;

  if (h->in >= 0 && h->out >= 0)
    handover_attach_ends(&m, &room, h);
  do {
    n = sendmsg(socket, &m, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  return n == (ssize_t)sizeof number ? 0 : -1;
}

int bn_handover_send_pipes(int socket, uint32_t number, int *in, int *out)
{
  struct bn_handover h = {.number = number, .in = -1, .out = -1};
  int rc, saved_errno;

  *in = *out = -1;
  rc = bn_pipe_make(in, &h.in, true /* we_write */);
  if (rc == 0)
    rc = bn_pipe_make(out, &h.out, false /* we_write */);
  if (rc == 0)
    rc = bn_handover_send(socket, &h);
  saved_errno = errno;
  bn_pipe_close_end(&h.in);
  bn_pipe_close_end(&h.out);
  if (rc != 0) {
    bn_pipe_close_end(in);
    bn_pipe_close_end(out);
  }
  errno = saved_errno;
  return rc;
}

bool bn_handover_take(int socket, struct bn_handover *h)
{
  int ends[ENDS] = {-1, -1};
  struct iovec payload = {&h->number, sizeof h->number};
  union control_room room;
  struct msghdr m = {.msg_iov = &payload,
                     .msg_iovlen = 1,
                     .msg_control = room.data,
                     .msg_controllen = sizeof room.data};
  ssize_t n;

  do {
    n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n != (ssize_t)sizeof h->number)
    return false;
  const struct cmsghdr *c = CMSG_FIRSTHDR(&m);

  if (c != NULL && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof ends))
    memcpy(ends, CMSG_DATA(c), sizeof ends);
  h->in = ends[IN_END];
  h->out = ends[OUT_END];
  return true;
}
