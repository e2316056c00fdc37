# SPDX-License-Identifier: GPL-2.0-or-later
"""One agent, spoken to as a controller does."""
import json
import os
import pathlib
import select
import struct
import subprocess
import threading
import time

BENCH = os.path.abspath(os.environ.get("BENCH", "bench"))
WAIT_S = 120

HELLO, FILE, OPEN, PING, START, STOP, PASS = range(1, 8)
WELCOME, REFUSE, PONG, READY, INTERVAL, RESULT, END, MEET, PRINTED = range(65, 74)


def frame(kind, payload=b""):
    return struct.pack("<IB", len(payload) + 1, kind) + payload


def file_frame(name, text):
    data = text if isinstance(text, bytes) else text.encode()
    return frame(FILE, struct.pack("<H", len(name)) + name.encode() + data)


class Agent:
    """The process of an agent, with what it has sent so far."""

    def __init__(self, tmp, command=None):
        self.tmp = pathlib.Path(tmp)
        self.tmp.mkdir(exist_ok=True)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("BENCH_")}
        environment.update(TMPDIR=str(self.tmp), LC_ALL="C")
        self.process = subprocess.Popen(command or [BENCH, "--agent"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        cwd=self.tmp.parent, env=environment)
        self.buffer = b""
        self.frames = []  # (type, payload, when it came)
        self.errors = b""
        self.reader = threading.Thread(target=self._read_errors, daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors += line

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def hello(self, *argv, first=0, sessions=1, host=0, **more):
        value = {"protocol": 1, "version": "0", "host": host,
                 "first_session": first, "sessions": sessions, "argv": [str(a) for a in argv],
                 "environment": []}
        value.update(more)
        self.send(frame(HELLO, json.dumps(value).encode()))

    def open(self, *argv, files=None, **more):
        """Says everything up to OPEN."""
        self.hello(*argv, **more)
        for name, text in (files or {}).items():
            self.send(file_frame(name, text))
        self.send(frame(OPEN))

    def start(self, at_ns):
        self.send(frame(START, struct.pack("<Q", at_ns)))

    def stop(self, how=1):
        self.send(frame(STOP, bytes([how])))

    def _take(self):
        while len(self.buffer) >= 4:
            length, = struct.unpack_from("<I", self.buffer)
            if len(self.buffer) < 4 + length:
                return
            self.frames.append((self.buffer[4], self.buffer[5:4 + length], time.monotonic_ns()))
            self.buffer = self.buffer[4 + length:]

    def read(self, limit_s=WAIT_S):
        """Reads a piece; false: the stream has ended."""
        ready, _, _ = select.select([self.process.stdout], [], [], limit_s)
        assert ready, "the agent sent nothing for %s s: %r" % (limit_s, self.errors)
        piece = os.read(self.process.stdout.fileno(), 65536)
        self.buffer += piece
        self._take()
        return piece != b""

    def of(self, kind):
        return [payload for k, payload, _ in self.frames if k == kind]

    def wait(self, kind):
        """The first frame of that kind."""
        while not self.of(kind):
            assert self.read(), "no frame %d but %s; %r" % (kind, [f[0] for f in self.frames],
                                                           self.errors)
        return self.of(kind)[0]

    def finish(self):
        """Reads to the end and returns the status that END has."""
        status = self.wait(END)[0]
        self.process.stdin.close()
        while self.read():
            pass
        assert self.process.wait(WAIT_S) == status
        return status

    def ready(self):
        return json.loads(self.wait(READY))

    def result(self):
        return json.loads(b"".join(self.of(RESULT)))

    def printed(self):
        """What a command printed."""
        return b"".join(self.of(PRINTED)).decode()

    def left(self):
        """What the agent has left behind, once it has had time to remove it."""
        until = time.monotonic() + WAIT_S
        while list(self.tmp.iterdir()) and time.monotonic() < until:
            time.sleep(0.01)
        return list(self.tmp.iterdir())

    def told(self):
        self.reader.join(WAIT_S)
        return self.errors.decode()
