/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of a stream. */
#include "hosts/frame.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"

/* The head of a frame: the length of the type and the payload, then the type. */
enum { LENGTH_SIZE = 4, TYPE_SIZE = BN_FRAME_HEAD - LENGTH_SIZE };
/* The length of the name at the beginning of a payload FILE. */
enum { NAME_LEN_SIZE = 2 };

/* The direction of each type, and the least and the greatest length of its payload in bytes.  A
   JSON map ("{}") has at least 2, a FILE has the length of its name and a name of one letter, and a
   SOURCE has three numbers and a name. */
static const struct form {
  enum bn_frame_type type;
  enum bn_frame_side side;
  size_t min_len, max_len;
  const char *name;
} forms[] = {
    {BN_FRAME_HELLO, BN_FRAME_FROM_CONTROLLER, 2, 4u << 20, "HELLO"},
    {BN_FRAME_FILE, BN_FRAME_FROM_CONTROLLER, NAME_LEN_SIZE + 1, BN_FRAME_MAX - 1, "FILE"},
    {BN_FRAME_OPEN, BN_FRAME_FROM_CONTROLLER, 0, 0, "OPEN"},
    {BN_FRAME_PING, BN_FRAME_FROM_CONTROLLER, BN_FRAME_NUMBER, BN_FRAME_NUMBER, "PING"},
    {BN_FRAME_START, BN_FRAME_FROM_CONTROLLER, BN_FRAME_NUMBER, BN_FRAME_NUMBER, "START"},
    {BN_FRAME_STOP, BN_FRAME_FROM_CONTROLLER, 1, 1, "STOP"},
    {BN_FRAME_PASS, BN_FRAME_FROM_CONTROLLER, 0, 0, "PASS"},
    {BN_FRAME_SAME, BN_FRAME_FROM_CONTROLLER, 0, 0, "SAME"},
    {BN_FRAME_WELCOME, BN_FRAME_FROM_AGENT, 2, 64u << 10, "WELCOME"},
    {BN_FRAME_REFUSE, BN_FRAME_FROM_AGENT, 1, 4u << 10, "REFUSE"},
    {BN_FRAME_PONG, BN_FRAME_FROM_AGENT, 2 * BN_FRAME_NUMBER, 2 * BN_FRAME_NUMBER, "PONG"},
    {BN_FRAME_READY, BN_FRAME_FROM_AGENT, 2, 4u << 20, "READY"},
    {BN_FRAME_INTERVAL, BN_FRAME_FROM_AGENT, 2, 4u << 20, "INTERVAL"},
    {BN_FRAME_RESULT, BN_FRAME_FROM_AGENT, 1, BN_FRAME_MAX - 1, "RESULT"},
    {BN_FRAME_END, BN_FRAME_FROM_AGENT, 1, 1, "END"},
    {BN_FRAME_MEET, BN_FRAME_FROM_AGENT, 0, 0, "MEET"},
    {BN_FRAME_PRINTED, BN_FRAME_FROM_AGENT, 1, 1u << 20, "PRINTED"},
    {BN_FRAME_SOURCE, BN_FRAME_FROM_AGENT, 13, 4u << 10, "SOURCE"},
};

/* Returns the form of a type, or NULL if the number is no type. */
static const struct form *frame_find_form(unsigned type)
{
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (forms[i].type == type)
      return &forms[i];
  return NULL;
}

const char *bn_frame_get_type_name(enum bn_frame_type type)
{
  const struct form *form = frame_find_form(type);

  return form != NULL ? form->name : "frame";
}

/* Writes the given number of the lowest bytes of a value, the lowest one first. */
static void frame_write_le(char *to, uint64_t value, size_t bytes)
{
  for (size_t i = 0; i < bytes; i++)
    to[i] = (char)(unsigned char)(value >> (8 * i));
}

/* Reads a number that has the given bytes, the lowest one first. */
static uint64_t frame_read_le(const char *from, size_t bytes)
{
  uint64_t value = 0;

  for (size_t i = 0; i < bytes; i++)
    value |= (uint64_t)(unsigned char)from[i] << (8 * i);
  return value;
}

/* --- writing --- */

void bn_frame_write_number(char payload[BN_FRAME_NUMBER], uint64_t number)
{
  frame_write_le(payload, number, BN_FRAME_NUMBER);
}

/* Makes room for a whole frame and writes its head.  Returns 0, or -1 if the type cannot have that
   length or there is no room; the buffer is then as before. */
static int frame_put_head(struct bn_buf *out, enum bn_frame_type type, size_t len)
{
  const struct form *form = frame_find_form(type);
  char head[BN_FRAME_HEAD];

  if (form == NULL || len < form->min_len || len > form->max_len ||
      bn_buf_reserve(out, sizeof head + len) != 0)
    return -1;
  frame_write_le(head, len + TYPE_SIZE, LENGTH_SIZE);
  head[LENGTH_SIZE] = (char)type;
  return bn_buf_add(out, head, sizeof head);
}

int bn_frame_put(struct bn_buf *out, enum bn_frame_type type, const void *data, size_t len)
{
  if (frame_put_head(out, type, len) != 0)
    return -1;
  return len > 0 ? bn_buf_add(out, data, len) : 0;
}

/* --- names of files --- */

/* Returns whether the part of a path is a name in its folder, and not "", "." or "..". */
static bool frame_is_plain_part(const char *part, size_t len)
{
  return len > 0 && !(len == 1 && part[0] == '.') &&
         !(len == 2 && part[0] == '.' && part[1] == '.');
}

/* Returns whether all parts of a name, which '/' separates, are plain. */
static bool frame_has_plain_parts(const char *name, size_t len)
{
  size_t part = 0; /* where the part begins that ends next */

  for (size_t i = 0; i <= len; i++) {
    const bool is_end = i == len || name[i] == '/';

    if (is_end && !frame_is_plain_part(name + part, i - part))
      return false;
    if (is_end)
      part = i + 1;
  }
  return true;
}

/* Returns why the name of a file is refused, as the end of a sentence, or NULL. */
static const char *frame_find_name_fault(const char *name, size_t len)
{
  enum { DEL = 0x7f };

  if (len == 0)
    return "it is empty";
  if (len > BN_FRAME_NAME_MAX)
    return "it is too long";
  if (name[0] == '/')
    return "it is absolute";
  for (size_t i = 0; i < len; i++)
    if ((unsigned char)name[i] < ' ' || name[i] == DEL)
      return "it has a control character";
  return frame_has_plain_parts(name, len) ? NULL : "it leads out of its folder";
}

/* Escapes bytes of another host so that a terminal only displays them.  A byte 0, which would end
   the text, becomes a blank, and a text that is too long for a message is cut. */
static void frame_escape(char *out, size_t size, const char *data, size_t len)
{
  enum { SHOWN_MAX = 511 };
  char copy[SHOWN_MAX + 1];

  if (len > SHOWN_MAX)
    len = SHOWN_MAX;
  for (size_t i = 0; i < len; i++)
    copy[i] = data[i] == '\0' ? ' ' : data[i];
  copy[len] = '\0';
  (void)bn_escape(out, size, copy, "" /* keep */);
}

/* Refuses the name of a file for the fault.  Returns -1. */
static int frame_refuse_name(const char *name, size_t len, const char *fault, struct bn_err *err)
{
  char shown[128];

  frame_escape(shown, sizeof shown, name, len);
  return bn_err_set(err, EINVAL, "the file name '%s' is refused: %s", shown, fault);
}

int bn_frame_put_file(struct bn_buf *out, const char *name, const void *data, size_t len,
                      struct bn_err *err)
{
  const size_t name_len = strlen(name);
  const char *fault = frame_find_name_fault(name, name_len);
  char head[NAME_LEN_SIZE];

  if (fault != NULL)
    return frame_refuse_name(name, name_len, fault, err);
  if (len > BN_FRAME_MAX - TYPE_SIZE - sizeof head - name_len)
    return bn_err_set(err, EFBIG, "the file '%s' is larger than %u MiB", name,
                      (unsigned)BN_FRAME_MAX >> 20);
  if (frame_put_head(out, BN_FRAME_FILE, sizeof head + name_len + len) != 0)
    return bn_err_set(err, ENOMEM, "out of memory");
  frame_write_le(head, name_len, sizeof head);
  /* frame_put_head() has made room for all, so that nothing fails now. */
  (void)bn_buf_add(out, head, sizeof head);
  (void)bn_buf_add(out, name, name_len);
  (void)bn_buf_add(out, data, len);
  return 0;
}

/* --- reading --- */

void bn_frame_reader_init(struct bn_frame_reader *r, enum bn_frame_side side)
{
  *r = (struct bn_frame_reader){.side = side};
  /* Room for one frame, and for all of the piece that completes it. */
  bn_buf_init(&r->in, BN_FRAME_HEAD + (size_t)BN_FRAME_MAX + BN_FRAME_PIECE);
}

void bn_frame_reader_done(struct bn_frame_reader *r)
{
  bn_buf_wipe(&r->in);
  r->used = 0;
  r->failed = true;
}

/* Moves the bytes that were not handed out, and the 0 that follows them, to the front of the
   buffer, so that it does not grow beyond one frame and one piece. */
static void frame_compact(struct bn_frame_reader *r)
{
  if (r->used == 0)
    return;
  r->in.len -= r->used;
  memmove(r->in.data, r->in.data + r->used, r->in.len + 1);
  r->used = 0;
}

int bn_frame_feed(struct bn_frame_reader *r, const void *data, size_t len, struct bn_err *err)
{
  if (r->failed)
    return bn_err_set(err, EPROTO, "the stream has failed");
  if (len == 0)
    return 0;
  frame_compact(r);
  if (bn_buf_add(&r->in, data, len) == 0)
    return 0;
  r->failed = true;
  return bn_err_set(err, ENOMEM, "out of memory");
}

/* Fails the reader, because the next bytes of the stream are not the head of a frame, and quotes
   them.  The usual reason is a shell that prints a greeting.  Returns -1. */
static int frame_refuse_stream(struct bn_frame_reader *r, const char *fault, struct bn_err *err)
{
  char shown[64];

  r->failed = true;
  frame_escape(shown, sizeof shown, r->in.data + r->used, r->in.len - r->used);
  if (r->has_begun)
    return bn_err_set(err, EPROTO, "the stream is garbled: %s; it goes on with '%s'", fault, shown);
  return bn_err_set(err, EPROTO, "the stream is not from bench: it begins with '%s'; %s", shown,
                    r->side == BN_FRAME_FROM_AGENT
                        ? "does a start-up file of the shell there print text?"
                        : "bench --agent is started by bench --hosts=LIST");
}

/* Returns what is wrong with the head of a frame, or NULL.  form NULL: it has no known type. */
static const char *frame_find_head_fault(const struct bn_frame_reader *r, const struct form *form,
                                         uint64_t payload_len)
{
  if (form == NULL)
    return "a frame has no known type";
  if (form->side != r->side)
    return "a frame travels in the wrong direction";
  if (payload_len < form->min_len || payload_len > form->max_len)
    return "a frame has a length that its type does not have";
  return NULL;
}

int bn_frame_next(struct bn_frame_reader *r, struct bn_frame *out, struct bn_err *err)
{
  const size_t available = r->in.len - r->used;
  const struct form *form;
  const char *fault;
  uint64_t len; /* of type and payload */
  char *head;

  if (r->failed)
    return bn_err_set(err, EPROTO, "the stream has failed");
  /* Each part of the head is judged as soon as it is there: a stream that is not from bench may
     never bring the rest. */
  if (available < LENGTH_SIZE)
    return 0;
  head = r->in.data + r->used;
  len = frame_read_le(head, LENGTH_SIZE);
  if (len < TYPE_SIZE || len > BN_FRAME_MAX)
    return frame_refuse_stream(r, "a frame has no possible length", err);
  if (available < BN_FRAME_HEAD)
    return 0;
  form = frame_find_form((unsigned char)head[LENGTH_SIZE]);
  fault = frame_find_head_fault(r, form, len - TYPE_SIZE);
  if (fault != NULL)
    return frame_refuse_stream(r, fault, err);
  if (available < LENGTH_SIZE + len)
    return 0;
  *out = (struct bn_frame){form->type, head + BN_FRAME_HEAD, (size_t)len - TYPE_SIZE};
  r->used += LENGTH_SIZE + (size_t)len;
  r->has_begun = true;
  return 1;
}

bool bn_frame_is_cut(const struct bn_frame_reader *r)
{
  return !r->failed && r->in.len > r->used;
}

bool bn_frame_is_within(const struct bn_frame_reader *r, enum bn_frame_type type)
{
  const size_t available = r->in.len - r->used;

  if (r->failed || available < BN_FRAME_HEAD)
    return false;
  return (unsigned char)r->in.data[r->used + LENGTH_SIZE] == (unsigned char)type;
}

uint64_t bn_frame_get_number(const struct bn_frame *f, unsigned i)
{
  const size_t offset = i * (size_t)BN_FRAME_NUMBER;

  return f->len >= offset + BN_FRAME_NUMBER ? frame_read_le(f->data + offset, BN_FRAME_NUMBER) : 0;
}

unsigned bn_frame_get_byte(const struct bn_frame *f)
{
  return f->len > 0 ? (unsigned char)f->data[0] : 0;
}

void bn_frame_get_text(const struct bn_frame *f, char *out, size_t size)
{
  frame_escape(out, size, f->data, f->len);
}

int bn_frame_get_file(const struct bn_frame *f, struct bn_frame_file *out, struct bn_err *err)
{
  /* bn_frame_next() hands out no FILE that is too short for the length of its name. */
  const size_t name_len = (size_t)frame_read_le(f->data, NAME_LEN_SIZE);
  const char *name = f->data + NAME_LEN_SIZE;
  const char *fault;

  if (name_len > f->len - NAME_LEN_SIZE)
    return bn_err_set(err, EPROTO, "a frame FILE ends within its name");
  fault = frame_find_name_fault(name, name_len);
  if (fault != NULL)
    return frame_refuse_name(name, name_len, fault, err);
  memcpy(out->name, name, name_len);
  out->name[name_len] = '\0';
  out->data = name + name_len;
  out->len = f->len - NAME_LEN_SIZE - name_len;
  return 0;
}
