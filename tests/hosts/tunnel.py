# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries packets between the TUN devices of network namespaces, with delay and loss.

Usage: tunnel.py PID NUMBER:PID...

The first process is in the controller's namespace, each other one in that of the host with that
number.  A packet that a TUN device has sent waits for its delay, goes as UDP over the bridge, and
into the TUN device at the other end.  Orders come from standard input, a line of JSON each: the
host's number, delays of both ways in ms, the share of packets that are lost, and whether all are.
"""

import ctypes
import errno
import fcntl
import heapq
import itertools
import json
import os
import random
import select
import socket
import stat
import struct
import sys
import tempfile
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
PORT = 7777
OUTER = "10.77.0"
BURST = 64
libc = ctypes.CDLL(None, use_errno=True)


def enter(pid):
    with open(f"/proc/{pid}/ns/net", "rb") as file:
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def open_clone():
    """/dev/net/tun, which a chroot may lack."""
    try:
        return os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    except FileNotFoundError:
        with tempfile.TemporaryDirectory() as folder:
            os.mknod(f"{folder}/tun", 0o600 | stat.S_IFCHR, os.makedev(10, 200))
            return os.open(f"{folder}/tun", os.O_RDWR | os.O_NONBLOCK)


class End:
    """One namespace: its TUN device, which is made here, and its socket."""

    def __init__(self, pid, number):
        enter(pid)
        self.number = number
        self.tun = open_clone()
        fcntl.ioctl(self.tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.setblocking(False)
        self.udp.bind(("", PORT))

    def send(self, number, packet):
        self.udp.sendto(packet, (f"{OUTER}.{number}", PORT))

    def put(self, packet):
        os.write(self.tun, packet)


class Way:
    def __init__(self):
        self.there_s = self.back_s = self.loss = 0.0
        self.rng, self.cut = random.Random(1), False

    def loses(self):
        return self.cut or (self.loss > 0 and self.rng.random() < self.loss)


class Tunnel:
    def __init__(self, hub, hosts):
        self.ways = {end.number: Way() for end in hosts}
        self.known = {hub.number, *self.ways}
        self.waiting, self.order = [], itertools.count()

    def take(self, end):
        """What a TUN device has sent.  From host to host it goes both their ways."""
        for _ in range(BURST):
            packet = os.read(end.tun, 65536)
            to = packet[19]
            if packet[0] >> 4 != 4 or to not in self.known:
                continue
            back, there = self.ways.get(end.number), self.ways.get(to)
            if any(way.loses() for way in (back, there) if way):
                continue
            due = time.monotonic()
            due += (back.back_s if back else 0) + (there.there_s if there else 0)
            heapq.heappush(self.waiting, (due, next(self.order), end, to, packet))

    def send(self):
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            _, _, end, to, packet = heapq.heappop(self.waiting)
            end.send(to, packet)

    def arrive(self, end):
        """What came over the bridge."""
        for _ in range(BURST):
            end.put(end.udp.recv(65536))

    def obey(self, line):
        order = json.loads(line)
        way = self.ways[order["host"]]
        way.there_s, way.back_s = order["there"] / 1e3, order["back"] / 1e3
        way.loss, way.cut = order["loss"], order["cut"]
        print("done", flush=True)

    def wait_ms(self):
        if not self.waiting:
            return None
        return max(0.0, self.waiting[0][0] - time.monotonic()) * 1e3


def until_empty(call, end):
    try:
        call(end)
    except OSError as error:
        # A device that is not up yet takes no packets.
        if error.errno not in (errno.EAGAIN, errno.EIO):
            raise


def main():
    hub = End(int(sys.argv[1]), 1)
    hosts = []
    for word in sys.argv[2:]:
        number, pid = word.split(":")
        hosts.append(End(int(pid), int(number)))
    tunnel = Tunnel(hub, hosts)
    poll = select.poll()
    calls = {}
    for end in (hub, *hosts):
        calls[end.tun], calls[end.udp.fileno()] = (tunnel.take, end), (tunnel.arrive, end)
    for fd in (0, *calls):
        poll.register(fd, select.POLLIN)
    print("ready", flush=True)
    while True:
        for fd, _ in poll.poll(tunnel.wait_ms()):
            if fd in calls:
                until_empty(*calls[fd])
                continue
            line = sys.stdin.readline()
            if not line:
                return
            tunnel.obey(line)
        tunnel.send()


main()
