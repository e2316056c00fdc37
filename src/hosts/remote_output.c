/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the pipe behind standard output. */
#include "hosts/remote_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

/* A line that is longer is handed over in pieces. */
enum { LINE_MAX_BYTES = 64 << 10 };

/* --- the agent -------------------------------------------------------------------------------- */

int bn_remote_output_begin(struct bn_remote_output *o, struct bn_err *err)
{
  enum { READ_END, WRITE_END, ENDS };
  int end[ENDS] = {-1, -1};
  const bool is_redirected = pipe2(end, O_CLOEXEC) == 0 &&
                             fcntl(end[READ_END], F_SETFL, O_NONBLOCK) == 0 &&
                             dup2(end[WRITE_END], STDOUT_FILENO) >= 0;
  const int error = errno;

  bn_buf_init(&o->line, 2 * LINE_MAX_BYTES); /* a line without an end, and the next piece */
  o->fd = end[READ_END];
  if (end[WRITE_END] >= 0)
    (void)close(end[WRITE_END]);
  if (is_redirected)
    return 0;
  return bn_err_set(err, error, "cannot take standard output: %s", strerror(error));
}

/* Queues the first len bytes as a frame, and removes them.  If that fails, the queue is broken, and
   the listener ends the run because of that. */
static void remote_output_send(struct bn_remote_output *o, struct bn_send_queue *queue, size_t len)
{
  if (len == 0)
    return;
  (void)bn_send_queue_put(queue, BN_FRAME_PRINTED, o->line.data, len);
  memmove(o->line.data, o->line.data + len, o->line.len - len);
  o->line.len -= len;
}

/* Returns the length of the text that is sent now: that of the complete lines or, if there is none,
   of a very long line that has no end yet.  0: nothing is sent. */
static size_t remote_output_get_ready_len(const struct bn_remote_output *o)
{
  const char *end = o->line.len > 0 ? memrchr(o->line.data, '\n', o->line.len) : NULL;

  if (end != NULL)
    return (size_t)(end - o->line.data) + 1;
  return o->line.len >= LINE_MAX_BYTES ? o->line.len : 0;
}

/* Reads a piece, and queues the lines that it completes.  Returns false if there is no text now, or
   no memory for it. */
static bool remote_output_read_piece(struct bn_remote_output *o, struct bn_send_queue *queue)
{
  char piece[LINE_MAX_BYTES];
  ssize_t n;

  do {
    n = read(o->fd, piece, sizeof piece);
  } while (n < 0 && errno == EINTR);
  if (n <= 0 || bn_buf_add(&o->line, piece, (size_t)n) != 0)
    return false;
  remote_output_send(o, queue, remote_output_get_ready_len(o));
  return true;
}

void bn_remote_output_send(struct bn_remote_output *o, struct bn_send_queue *queue)
{
  if (o->fd >= 0)
    (void)remote_output_read_piece(o, queue);
}

void bn_remote_output_end(struct bn_remote_output *o, struct bn_send_queue *queue)
{
  if (o->fd < 0)
    return;
  /* This process writes nothing more into the pipe, so that what is read now is all. */
  (void)dup2(STDERR_FILENO, STDOUT_FILENO);
  while (remote_output_read_piece(o, queue))
    continue;
  remote_output_send(o, queue, o->line.len);
  bn_buf_done(&o->line);
  (void)close(o->fd);
  o->fd = -1;
}

/* --- the controller --------------------------------------------------------------------------- */

/* A text that waits in the printer. */
struct queued_text {
  struct bn_printer_job job;
  char prefix[BN_REMOTE_PREFIX_SIZE];
  size_t len; /* of the text; not 0 */
  char text[];
};

/* Prints the text up to the end of its first line without a prefix, because the beginning of that
   line is on standard output already.  Returns what follows. */
static const char *remote_output_print_line_end(const char *text)
{
  const char *newline = strchr(text, '\n');
  const size_t len = newline != NULL ? (size_t)(newline - text) + 1 : strlen(text);
  char *end = bn_alloc_part(text, len);

  bn_log_output("", end);
  free(end);
  return text + len;
}

/* Prints a text of a host.  If the last line on standard output has no end, a text of the same host
   continues it, and a text of another host ends it first. */
static void remote_output_print(struct bn_printer_job *job)
{
  const struct queued_text *queued = (const struct queued_text *)job;
  struct bn_remote_line *line = job->arg;
  const char *text = queued->text;

  if (line->is_open && strcmp(line->prefix, queued->prefix) == 0)
    text = remote_output_print_line_end(text);
  else if (line->is_open)
    bn_log_output("", "\n");
  if (text[0] != '\0')
    bn_log_output(queued->prefix, text);
  line->is_open = queued->text[queued->len - 1] != '\n';
  memcpy(line->prefix, queued->prefix, sizeof line->prefix);
}

void bn_remote_output_show(struct bn_printer *p, struct bn_remote_line *line, const char *host,
                           const char *text, size_t len)
{
  struct queued_text *queued = bn_alloc(1, sizeof *queued + len + 1);

  if (host != NULL)
    (void)snprintf(queued->prefix, sizeof queued->prefix, "%s: ", host);
  queued->len = len;
  for (size_t i = 0; i < len; i++)
    queued->text[i] = text[i] != '\0' ? text[i] : ' '; /* a 0 would end the text */
  queued->job =
      (struct bn_printer_job){.arg = line, .say = remote_output_print, .done = bn_printer_free_job};
  bn_printer_offer_job(p, &queued->job);
}
