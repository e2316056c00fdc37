# SPDX-License-Identifier: GPL-2.0-or-later
"""The floor of a client with a thread for each connection: the processor time in which floor.c sends a simple query and
reads its answer."""

import atexit
import functools
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time

USER = "floor"
# CLIENT_PROTOCOL_41 and CLIENT_SECURE_CONNECTION: an empty password is answered by the length 0.
MYSQL_LOGIN = struct.pack("<IIB23x", 0x8200, 1 << 24, 45) + USER.encode() + b"\0\0"
PG_LOGIN = struct.pack("!I", 0x30000) + b"user\0postgres\0database\0postgres\0\0"
QUERY = b"SELECT 1"


def connect(by, path, port):
    """A socket that is connected by the Unix socket at PATH or by TCP."""
    if by == "socket":
        talk = socket.socket(socket.AF_UNIX)
        talk.connect(path)
    else:
        talk = socket.create_connection(("127.0.0.1", port))
        talk.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return talk


def mysql(server, by):
    """(socket that is logged in, request)"""
    talk = connect(by, server.socket, server.port)
    talk.recv(1024)
    talk.sendall(struct.pack("<I", len(MYSQL_LOGIN) | 1 << 24) + MYSQL_LOGIN)
    answer = talk.recv(1024)
    if answer[4] != 0:
        sys.exit(f"cannot log in: {answer}")
    return talk, struct.pack("<IB", len(QUERY) + 1, 3) + QUERY


def pg(server, by):
    talk = connect(by, f"{server.folder}/.s.PGSQL.{server.port}", server.port)
    talk.sendall(struct.pack("!I", len(PG_LOGIN) + 4) + PG_LOGIN)
    answer = b""
    while answer[-6:-1] != b"Z\0\0\0\5":
        more = talk.recv(4096)
        answer += more
        if not more or answer[0:1] == b"E":
            sys.exit(f"cannot log in: {answer}")
    return talk, b"Q" + struct.pack("!I", len(QUERY) + 5) + QUERY + b"\0"


def length_of_answer(talk, request):
    """The same request has answers of the same length."""
    talk.sendall(request)
    talk.settimeout(0.2)
    length = 0
    try:
        while True:
            length += len(talk.recv(4096))
    except TimeoutError:
        talk.setblocking(True)
        return length


def trust(server):
    """Lets the administrator in by TCP without a password."""
    path, rule = server.path("data/pg_hba.conf"), "host all postgres 127.0.0.1/32 trust\n"
    with open(path, encoding="utf-8") as file:
        rules = file.read()
    if not rules.startswith(rule):
        with open(path, "w", encoding="utf-8") as file:
            file.write(rule + rules)
        server.sql("SELECT pg_reload_conf()")
        time.sleep(1)


@functools.lru_cache(maxsize=None)
def program():
    """The compiled floor.c, in a folder that the script leaves with its end."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = os.path.join(folder.name, "floor")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "floor.c")
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-D_GNU_SOURCE", "-pthread", "-o", path, source], check=True)
    return path


def cost(server, by, connections, seconds):
    """Microseconds of processor time of a round trip, over BY, "socket" or "tcp"."""
    if server.kind == "pg":
        trust(server)
        talks = [pg(server, by) for _ in range(connections)]
    else:
        for host in ("localhost", "127.0.0.1"):
            server.sql(f"CREATE USER IF NOT EXISTS {USER}@'{host}'")
        talks = [mysql(server, by) for _ in range(connections)]
    request = talks[0][1]
    length = length_of_answer(*talks[0])
    fds = [talk.fileno() for talk, _ in talks]
    done = subprocess.run([program(), str(seconds), str(length), *map(str, fds)], input=request,
                          stdout=subprocess.PIPE, check=True, pass_fds=fds)
    for talk, _ in talks:
        talk.close()
    return float(done.stdout)
