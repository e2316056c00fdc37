# SPDX-License-Identifier: GPL-2.0-or-later
"""Stands between a controller and an agent: delays what passes, and breaks the connection.

Usage: relay.py [--there=LEAST:MOST] [--back=LEAST:MOST] [--fault=KIND@FRAME:N] [--limit=BYTES]
       [--edit=PATTERN=>TEXT] [--note=FILE] [--linger] command...

Delays are in ms.  A fault comes with the Nth frame of that name from the agent: `close` closes the
connection before it, `cut` in the middle of it, and `limit` if it is longer than --limit; `garble`
changes bytes of it, `edit` what matches the regular expression of --edit, in all later ones too,
`replace` puts a text in its place, `split` makes two frames of it, `stall` lets nothing pass any
more, and `mute` only PONG.  `--linger` does not end when the agent has: it makes the file of --note
once the controller has closed its end too.
"""

import argparse
import collections
import os
import random
import re
import select
import signal
import struct
import subprocess
import sys
import time

TYPES = {"WELCOME": 65, "REFUSE": 66, "PONG": 67, "READY": 68, "INTERVAL": 69, "RESULT": 70,
         "END": 71, "MEET": 72, "PRINTED": 73}


class Way:
    """One direction: what has been read leaves after its delay, in the order in which it came."""

    def __init__(self, source, sink, delay_ms):
        self.source, self.sink = source, sink
        least, _, most = delay_ms.partition(":")
        self.least, self.most = float(least) / 1e3, float(most or least) / 1e3
        self.queue, self.open = collections.deque(), True

    def take(self):
        data = os.read(self.source, 1 << 16)
        due = time.monotonic() + random.uniform(self.least, self.most)
        self.open = bool(data)
        return due, data

    def put(self, due, data):
        if self.queue:
            due = max(due, self.queue[-1][0])
        self.queue.append((due, data))

    def wait_s(self):
        return max(0.0, self.queue[0][0] - time.monotonic()) if self.queue else None

    def send(self):
        """False: the end has been handed on, or nobody reads."""
        while self.queue and self.queue[0][0] <= time.monotonic():
            data = self.queue.popleft()[1]
            if not data:
                return False
            try:
                while data:
                    data = data[os.write(self.sink, data):]
            except BrokenPipeError:
                return False
        return True


class Fault:
    def __init__(self, text, limit, edit):
        self.limit, self.edit = limit, edit.encode().partition(b"=>")
        self.kind, _, place = text.partition("@")
        name, _, number = place.partition(":")
        self.type, self.left = TYPES[name], int(number or 1)
        self.bytes, self.struck = b"", False

    def frames(self, data):
        """Those that are complete."""
        self.bytes += data
        while len(self.bytes) >= 5:
            end = 4 + struct.unpack_from("<I", self.bytes)[0]
            if len(self.bytes) < end:
                return
            whole, self.bytes = self.bytes[:end], self.bytes[end:]
            yield whole

    def change(self, data):
        """What leaves instead, and whether the connection is closed then."""
        out = b""
        for whole in self.frames(data):
            self.left -= whole[4] == self.type
            if self.kind == "mute" and self.left <= 0:
                out += whole if whole[4] == TYPES["PONG"] else b""
                continue
            if self.kind == "edit" and self.left <= 0 and whole[4] == self.type:
                payload = re.sub(self.edit[0], self.edit[2], whole[5:])
                out += struct.pack("<IB", len(payload) + 1, whole[4]) + payload
                continue
            if self.struck or whole[4] != self.type or self.left != 0:
                out += whole
                continue
            self.struck = True
            if self.kind == "stall":
                return out, False
            if self.kind == "limit" and len(whole) <= self.limit:
                out += whole
                continue
            if self.kind == "split":
                middle = len(whole) // 2
                for part in (whole[5:middle], whole[middle:]):
                    out += struct.pack("<IB", len(part) + 1, whole[4]) + part
                continue
            if self.kind in ("close", "limit"):
                return out, True
            if self.kind == "cut":
                return out + whole[:-1], True
            if self.kind == "replace":
                return out + b"bash: line 1: \x1b[31moops\n", False
            middle = len(whole) // 2
            out += whole[:middle] + bytes(b ^ 0xff for b in whole[middle:middle + 40])
            out += whole[middle + 40:]
        return out, False


def relay(there, back, fault):
    while there.open or there.queue or back.open or back.queue:
        stalled = fault is not None and fault.kind == "stall" and fault.struck
        waits = [w for w in (there.wait_s(), back.wait_s()) if w is not None]
        sources = [w.source for w in (there, back) if w.open]
        ready = select.select(sources, [], [], min(waits) if waits else None)[0]
        for way in (there, back):
            if way.source not in ready or not way.open:
                continue
            due, data = way.take()
            closed = False
            if stalled:
                continue
            if way is back and fault is not None and not fault.struck and data:
                data, closed = fault.change(data)
            if data or not way.open:
                way.put(due, data)
            if closed:
                way.put(due, b"")
        if not there.send() or not back.send():
            return


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--there", default="0")
    parser.add_argument("--back", default="0")
    parser.add_argument("--fault")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--edit", default="")
    parser.add_argument("--note")
    parser.add_argument("--linger", action="store_true")
    parser.add_argument("--pid", help="file for the number of the agent's process")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    agent = subprocess.Popen(args.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if args.pid:
        with open(args.pid, "w", encoding="ascii") as file:
            file.write(str(agent.pid))
    fault = Fault(args.fault, args.limit, args.edit) if args.fault else None
    relay(Way(0, agent.stdin.fileno(), args.there), Way(agent.stdout.fileno(), 1, args.back), fault)
    if args.linger:
        while args.note and os.read(0, 1 << 16):
            pass
        if args.note:
            open(args.note, "w", encoding="ascii").close()
        signal.pause()
    agent.stdin.close()
    agent.stdout.close()
    os.close(1)
    sys.exit(agent.wait())


main()
