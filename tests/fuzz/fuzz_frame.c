/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the stream between hosts: pieces of any length give the same frames, each frame is one
   that could have been written, and a refusal is a sentence that a terminal only shows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "hosts/frame.h"
#include "hosts/handshake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
  if (text[0] == '\0' || bn_escape(NULL, 0, text, "") != strlen(text))
    abort();
}

static void check_file(const struct bn_frame *f)
{
  struct bn_frame_file file;
  struct bn_err err = {.code = 0};
  struct bn_buf out = {.max = 0};

  if (bn_frame_get_file(f, &file, &err) != 0) {
    check_text(err.text);
    return;
  }
  if (file.name[0] == '/' || strstr(file.name, "//") != NULL || strcmp(file.name, "..") == 0 ||
      strncmp(file.name, "../", 3) == 0 || strstr(file.name, "/../") != NULL)
    abort();
  if (bn_frame_put_file(&out, file.name, file.data, file.len, &err) != 0 ||
      out.len != BN_FRAME_HEAD + f->len || memcmp(out.data + BN_FRAME_HEAD, f->data, f->len) != 0)
    abort();
  bn_buf_done(&out);
}

static void check_hello(const struct bn_frame *f)
{
  struct bn_handshake handshake;
  struct bn_err err = {.code = 0};
  size_t len;
  char *text;

  if (bn_handshake_parse(f->data, f->len, &handshake, &err) != 0) {
    check_text(err.text);
    return;
  }
  text = bn_handshake_print(&handshake, &len, &err);
  bn_handshake_done(&handshake);
  if (text == NULL || bn_handshake_parse(text, len, &handshake, &err) != 0)
    abort();
  bn_handshake_done(&handshake);
  free(text);
}

static void check_welcome(const struct bn_frame *f)
{
  struct bn_welcome welcome;
  struct bn_err err = {.code = 0};

  if (bn_welcome_parse(f->data, f->len, &welcome, &err) == 0)
    bn_welcome_done(&welcome);
  else
    check_text(err.text);
}

static void look_at(const struct bn_frame *f)
{
  char text[100];

  bn_frame_get_text(f, text, sizeof text);
  if (f->len > 0)
    check_text(text);
  (void)bn_frame_get_number(f, 1);
  (void)bn_frame_get_byte(f);
  if (f->type == BN_FRAME_FILE)
    check_file(f);
  else if (f->type == BN_FRAME_HELLO)
    check_hello(f);
  else if (f->type == BN_FRAME_WELCOME)
    check_welcome(f);
}

/* Decodes a stream and writes its frames again.  Each piece is in memory of its own size. */
static void decode(enum bn_frame_side side, const uint8_t *data, size_t size, size_t piece,
                   struct bn_buf *out)
{
  struct bn_frame_reader r;
  struct bn_frame f;
  struct bn_err err = {.code = 0};
  int got = 0;

  bn_frame_reader_init(&r, side);
  for (size_t at = 0; at < size && got == 0; at += piece) {
    const size_t len = size - at < piece ? size - at : piece;
    uint8_t *copy = malloc(len);

    if (copy == NULL)
      abort();
    memcpy(copy, data + at, len);
    if (bn_frame_feed(&r, copy, len, &err) != 0)
      abort();
    free(copy);
    while ((got = bn_frame_next(&r, &f, &err)) == 1) {
      look_at(&f);
      if (bn_frame_put(out, f.type, f.data, f.len) != 0)
        abort();
    }
  }
  if (got < 0)
    check_text(err.text);
  else if (bn_frame_is_cut(&r) != (out->len < size))
    abort();
  if (out->len > size || (out->len > 0 && memcmp(out->data, data, out->len) != 0))
    abort();
  bn_frame_reader_done(&r);
}

/* The input as the payload of a frame of any type, so that the readers of payloads are met. */
static void wrap(enum bn_frame_side side, enum bn_frame_type type, const uint8_t *data, size_t size)
{
  struct bn_buf stream = {.max = 0}, out = {.max = 0};

  if (bn_frame_put(&stream, type, data, size) == 0)
    decode(side, (const uint8_t *)stream.data, stream.len, stream.len, &out);
  bn_buf_done(&stream);
  bn_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct bn_buf whole = {.max = 0}, pieces = {.max = 0};
  enum bn_frame_side side;

  if (size < 3)
    return 0;
  side = data[0] & 1 ? BN_FRAME_FROM_AGENT : BN_FRAME_FROM_CONTROLLER;
  wrap(side, (enum bn_frame_type)data[1], data + 2, size - 2);
  decode(side, data + 2, size - 2, size - 2, &whole);
  decode(side, data + 2, size - 2, 1u + data[0] / 2, &pieces);
  if (whole.len != pieces.len)
    abort();
  bn_buf_done(&whole);
  bn_buf_done(&pieces);
  return 0;
}
