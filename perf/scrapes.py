#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What readers of --metrics-listen cost: events per second of an empty event() while the page is read
100 times a second, against the same run without the page. One worker; the reader needs a processor
of its own. Exit status 1: more than a hundredth is lost."""

import http.client
import re
import socket
import sys
import tempfile
import threading
import time

import lib

LEAST = 0.99
PER_S = lib.setting("PERF_SCRAPES", 100)
PAIRS = lib.setting("PERF_PAIRS", 5)
SECONDS = lib.setting("PERF_SECONDS", 3)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Reader(threading.Thread):
    """Reads the page at a steady pace over one connection, as Prometheus does, until it is gone."""

    def __init__(self, port):
        super().__init__()
        self.port, self.pages, self.over = port, 0, threading.Event()

    def read(self, connection):
        due = time.monotonic()
        while not self.over.is_set():
            connection.request("GET", "/metrics")
            connection.getresponse().read()
            self.pages += 1
            due += 1 / PER_S
            time.sleep(max(0, due - time.monotonic()))

    def run(self):
        while not self.over.is_set():
            try:
                self.read(http.client.HTTPConnection("127.0.0.1", self.port, timeout=5))
            except (OSError, http.client.HTTPException):
                time.sleep(0.005)  # the page is not there yet, or not any more


def events(script, *args):
    done = lib.run([lib.bench(), script, "--threads=1", f"--time={SECONDS}", *args, "run"])
    return int(re.search(r"total number of events: +(\d+)", done.text).group(1)) / SECONDS


def while_read(script):
    reader = Reader(free_port())
    reader.start()
    try:
        rate = events(script, f"--metrics-listen={reader.port}")
    finally:
        reader.over.set()
        reader.join()
    if reader.pages < 0.9 * PER_S * SECONDS:
        sys.exit(f"the page was read only {reader.pages} times in {SECONDS} s")
    return rate


def main():
    rows = lib.Rows(f"--metrics-listen, {PER_S} reads a second, medians of {PAIRS} pairs of {SECONDS} s",
                    f"{'row':20} {'read':>12} {'without':>12} {'ratio':>7} (of pairs)     wanted")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write("function event() end\n")
        script.flush()
        pairs = lib.alternate(PAIRS, lambda: while_read(script.name), lambda: events(script.name))
    ratio, found = lib.ratios(pairs)
    read, without = lib.middle(pairs)
    rows.add("empty event", f"{'empty event':20} {read:12.0f} {without:12.0f} {ratio:7.3f} "
             f"({found[0]:.3f}..{found[-1]:.3f}) >={LEAST}", ratio >= LEAST)
    return rows.status()


sys.exit(main())
