/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames that a controller and its agents exchange: an encoder, and a decoder that takes a
   stream in pieces of any length.

   A frame is a little-endian u32, which is the length of what follows it, a u8, which is the type,
   and the payload.  A number in a payload is a little-endian u64.  Each type has a least and a
   greatest length, and belongs to one direction.  No function here reads or writes a descriptor. */
#ifndef BN_HOSTS_FRAME_H
#define BN_HOSTS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* The version of the protocol, which is raised when a frame changes its meaning.  Both sides name
   theirs in HELLO and WELCOME, from which no member of a release is removed, so that each side can
   read the other's. */
enum { BN_FRAME_PROTOCOL = 1 };

enum {
  BN_FRAME_HEAD = 5,         /* bytes before the payload */
  BN_FRAME_NUMBER = 8,       /* bytes of a number in a payload */
  BN_FRAME_MAX = 16u << 20,  /* type and payload */
  BN_FRAME_PIECE = 64u << 10 /* what a caller of bn_frame_feed() reads at a time */
};

enum bn_frame_type {
  /* From the controller. */
  BN_FRAME_HELLO = 1, /* JSON: hosts/handshake.h */
  BN_FRAME_FILE = 2,  /* struct bn_frame_file */
  BN_FRAME_OPEN = 3,  /* nothing: all files have come, sessions may be made */
  BN_FRAME_PING = 4,  /* the time at the controller */
  BN_FRAME_START = 5, /* the time at the agent when its start barrier opens */
  BN_FRAME_STOP = 6,  /* u8: enum bn_frame_stop */
  BN_FRAME_PASS = 7,  /* nothing: all hosts have sent MEET */
  BN_FRAME_SAME = 8,  /* nothing: the script of SOURCE is the same here */
  /* From an agent. */
  BN_FRAME_WELCOME = 65,  /* JSON: hosts/handshake.h */
  BN_FRAME_REFUSE = 66,   /* a sentence; the agent ends then */
  BN_FRAME_PONG = 67,     /* the time of the PING, the time at the agent */
  BN_FRAME_READY = 68,    /* JSON: facts, and the group with its metrics; sessions are ready */
  BN_FRAME_INTERVAL = 69, /* JSON: an interval or a tick in the form of a journal */
  BN_FRAME_RESULT = 70,   /* JSON: a piece of the document, which ends with END */
  BN_FRAME_END = 71,      /* u8: the exit status */
  BN_FRAME_MEET = 72,     /* nothing: all sessions of a command wait for those of other hosts */
  BN_FRAME_PRINTED = 73,  /* what a command has printed: lines, or a piece of a long one */
  BN_FRAME_SOURCE = 74    /* hosts/source.h: a script that is loaded, which waits for SAME */
};

enum bn_frame_stop { BN_FRAME_STOP_ORDER = 1, BN_FRAME_STOP_NOW = 2 };

enum bn_frame_side { BN_FRAME_FROM_CONTROLLER, BN_FRAME_FROM_AGENT };

/* Returns the name of a type, such as "HELLO", or "frame" for a number that is no type. */
const char *bn_frame_get_type_name(enum bn_frame_type type);

/* --- writing --- */

/* Writes a number into a payload. */
void bn_frame_write_number(char payload[BN_FRAME_NUMBER], uint64_t number);

/* Appends a frame.  Returns 0, or -1 if the memory or the limit of the buffer does not suffice, or
   if the type cannot have that length; the buffer is then as before. */
int bn_frame_put(struct bn_buf *out, enum bn_frame_type type, const void *data, size_t len);
/* Appends a frame FILE, as bn_frame_put() does.  err says why it has failed: an agent would refuse
   the name, or the file is too large. */
int bn_frame_put_file(struct bn_buf *out, const char *name, const void *data, size_t len,
                      struct bn_err *err);

/* --- reading --- */

/* A frame of the stream.  Its length is one that its type may have. */
struct bn_frame {
  enum bn_frame_type type;
  const char *data; /* borrowed from the reader until the next call with it; no 0 follows */
  size_t len;
};

/* A decoder of one direction.  It holds one frame and BN_FRAME_PIECE bytes at most. */
struct bn_frame_reader {
  enum bn_frame_side side;
  struct bn_buf in;
  size_t used;    /* bytes of `in` that were handed out */
  bool has_begun; /* a frame has been handed out */
  bool failed;    /* nothing more is taken */
};

void bn_frame_reader_init(struct bn_frame_reader *r, enum bn_frame_side side);
void bn_frame_reader_done(struct bn_frame_reader *r);
/* Takes a piece of the stream.  Frames that are complete have to be fetched before the next piece.
   Returns 0, or -1 and err if there is no memory or the stream has failed before. */
int bn_frame_feed(struct bn_frame_reader *r, const void *data, size_t len, struct bn_err *err);
/* Fetches the next frame.  Returns 1, or 0 if it is not complete, or -1 if this is no stream of
   frames: err quotes what came instead, escaped, and nothing more is taken. */
int bn_frame_next(struct bn_frame_reader *r, struct bn_frame *out, struct bn_err *err);
/* Returns whether the stream, which has ended, has ended within a frame, which is then lost. */
bool bn_frame_is_cut(const struct bn_frame_reader *r);
/* Returns whether the next frame is of that type and has come in part only, once bn_frame_next()
   has fetched the complete ones. */
bool bn_frame_is_within(const struct bn_frame_reader *r, enum bn_frame_type type);

/* Returns number i of the payload: PING and START have number 0, PONG has 0 and 1.  Returns 0 for a
   number that the payload does not have. */
uint64_t bn_frame_get_number(const struct bn_frame *f, unsigned i);
/* Returns the byte of STOP or END. */
unsigned bn_frame_get_byte(const struct bn_frame *f);

/* Stores the text of REFUSE, escaped for a terminal and cut to the size. */
void bn_frame_get_text(const struct bn_frame *f, char *out, size_t size);

enum { BN_FRAME_NAME_MAX = 512 };

struct bn_frame_file {
  char name[BN_FRAME_NAME_MAX + 1]; /* safe to open below a folder of the agent's own */
  const char *data;                 /* borrowed as in struct bn_frame */
  size_t len;
};

/* Reads a frame FILE.  Returns 0, or -1 and err, which says why the file is refused: its name is
   empty, too long or absolute, ends in '/', has a part "", "." or "..", or has a control
   character. */
int bn_frame_get_file(const struct bn_frame *f, struct bn_frame_file *out, struct bn_err *err);

#endif
