/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes the pipes of channels, and makes their messages. */
#include "hosts/channel.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "hosts/send_queue.h"

/* The most bytes that wait for a pipe: as many as an agent may have queued before it ends.  If
   there would be more, the pipe is closed. */
enum { QUEUE_MAX = BN_SEND_QUEUE_MAX };

/* The place of the number in the head of a message, behind the kind. */
enum { NUMBER_AT = 1 };

static void channel_close(struct bn_channel *c)
{
  bn_pipe_close_end(&c->in);
  bn_pipe_close(&c->to);
}

/* --- the table -------------------------------------------------------------------------------- */

void bn_channels_add(struct bn_channels *c, const struct bn_channel *new)
{
  c->at = bn_alloc_resize(c->at, c->n + 1, sizeof *c->at);
  c->at[c->n] = *new;
  bn_buf_init(&c->at[c->n].to.queue, QUEUE_MAX);
  c->n++;
}

struct bn_channel *bn_channels_find(const struct bn_channels *c, unsigned rank, uint32_t number)
{
  for (size_t i = 0; i < c->n; i++)
    if (c->at[i].rank == rank && c->at[i].number == number)
      return &c->at[i];
  return NULL;
}

void bn_channels_remove_ended(struct bn_channels *c)
{
  size_t kept = 0;

  for (size_t i = 0; i < c->n; i++) {
    struct bn_channel *channel = &c->at[i];

    if (channel->has_sent_end && channel->has_received_end && channel->to.fd < 0)
      channel_close(channel);
    else
      c->at[kept++] = *channel;
  }
  c->n = kept;
}

void bn_channels_done(struct bn_channels *c)
{
  for (size_t i = 0; i < c->n; i++)
    channel_close(&c->at[i]);
  free(c->at);
  *c = (struct bn_channels){.n = 0};
}

/* --- messages --------------------------------------------------------------------------------- */

void bn_channel_put_head(char *message, enum bn_channel_message kind, uint32_t number)
{
  const uint32_t le = htole32(number);

  message[0] = (char)kind;
  memcpy(message + NUMBER_AT, &le, sizeof le);
}

enum bn_channel_message bn_channel_get_kind(const char *message)
{
  return (enum bn_channel_message)message[0];
}

uint32_t bn_channel_get_number(const char *message)
{
  uint32_t le;

  memcpy(&le, message + NUMBER_AT, sizeof le);
  return le32toh(le);
}

/* Makes a message DATA of what can be read from the pipe.  If the pipe has ended, cannot be read or
   could not be made, makes END and closes it.  `size` is greater than BN_CHANNEL_HEAD.  Returns the
   length of the message, or 0 if there is nothing to read now. */
static size_t channel_read(struct bn_channel *c, char *message, size_t size)
{
  ssize_t n = 0; /* as at the end of a pipe */

  if (c->in >= 0)
    n = read(c->in, message + BN_CHANNEL_HEAD, size - BN_CHANNEL_HEAD);
  if (n > 0) {
    bn_channel_put_head(message, BN_CHANNEL_DATA, c->number);
    return BN_CHANNEL_HEAD + (size_t)n;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return 0;
  bn_channel_put_head(message, BN_CHANNEL_END, c->number);
  bn_pipe_close_end(&c->in);
  c->has_sent_end = true;
  return BN_CHANNEL_HEAD;
}

size_t bn_channel_make_message(struct bn_channel *c, char *message, size_t size)
{
  if (c->must_open) {
    c->must_open = false;
    bn_channel_put_head(message, BN_CHANNEL_OPEN, c->number);
    return BN_CHANNEL_HEAD;
  }
  return c->has_sent_end ? 0 : channel_read(c, message, size);
}

/* --- bytes ------------------------------------------------------------------------------------ */

void bn_channel_take_data(struct bn_channel *c, const char *data, size_t len)
{
  if (c->to.fd < 0)
    return;
  bn_buf_shift(&c->to.queue, &c->to.sent); /* drops the bytes that have been written */
  if (bn_buf_add(&c->to.queue, data, len) == 0)
    bn_channel_write(c);
  else
    bn_pipe_close(&c->to);
}

void bn_channel_take_end(struct bn_channel *c)
{
  c->has_received_end = true;
  bn_channel_write(c);
}

void bn_channel_write(struct bn_channel *c)
{
  (void)bn_pipe_send(&c->to); /* closes the pipe if nobody reads it */
  if (c->has_received_end && !bn_pipe_has_queued(&c->to))
    bn_pipe_close(&c->to);
}
