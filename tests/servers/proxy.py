# SPDX-License-Identifier: GPL-2.0-or-later
"""Stands between the program and a server, and does to what passes what networks do."""

import contextlib
import ctypes
import random
import socket
import struct
import threading
import time

import fake


# Of asm/socket.h: a filter sees packets before TCP does.
SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
# sock_filter: return 0, which takes nothing of a packet.
TAKE_NOTHING = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))


class Proxy(fake.FakeServer):
    """`way` is what becomes of what passes: pass, delay, drop, truncate or reset.  `share` of the
    connections that begin from now on are reset at a random byte whatever it is."""

    def __init__(self, server):
        self.target, self.way, self.share = ("127.0.0.1", server.port), "pass", 0.0
        self.connections = self.resets = 0
        self.clients = []
        super().__init__()

    def vanish(self):
        """As a host that loses its network: what clients send is not acknowledged any more."""
        self.set(SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(TAKE_NOTHING)))

    def come_back(self):
        self.set(SO_DETACH_FILTER, 0)

    def set(self, option, value):
        for end in (self.listener, *self.clients):
            with contextlib.suppress(OSError):  # it has been closed
                end.setsockopt(socket.SOL_SOCKET, option, value)

    def talk(self, conn):
        self.connections += 1
        self.clients.append(conn)
        with socket.create_connection(self.target) as there:
            for end in (conn, there):
                end.settimeout(None)
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # Bytes of both directions until the reset.
            left = [random.randrange(100, 4000)] if random.random() < self.share else None
            back = threading.Thread(target=self.pump, args=(there, conn, left), daemon=True)
            back.start()
            self.pump(conn, there, left)
            back.join()

    def pump(self, source, sink, left):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                way = self.way
                if left is not None:
                    left[0] -= len(data)
                if way == "reset" or (left is not None and left[0] < 0):
                    self.resets += 1
                    return self.reset(source, sink)
                if way == "delay":
                    time.sleep(random.uniform(0, 0.2))
                elif way == "drop":
                    continue
                elif way == "truncate":
                    sink.sendall(data[:len(data) // 2])
                    break
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        return None

    @staticmethod
    def reset(*ends):
        for end in ends:
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                # The other thread waits in it; only then does close() end it.
                end.shutdown(socket.SHUT_RD)
                end.close()
