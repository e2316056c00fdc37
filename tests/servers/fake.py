# SPDX-License-Identifier: GPL-2.0-or-later
"""What servers that are not to be trusted have in common: they listen on a port of their own."""

import contextlib
import socket
import threading


class FakeServer:
    """`talk` is what it has to say on a connection, each of which has a thread unless `one_by_one`."""

    one_by_one = False
    patience_s = 60  # with a client that is silent

    def __init__(self):
        self.listen(socket.create_server(("127.0.0.1", 0), backlog=64))
        self.port = self.listener.getsockname()[1]

    def listen(self, listener):
        self.listener = listener
        threading.Thread(target=self.serve, args=(listener,), daemon=True).start()

    def close(self):
        self.listener.close()

    def serve(self, listener):
        with contextlib.suppress(OSError):
            while True:
                conn, _ = listener.accept()
                if self.one_by_one:
                    self.attend(conn)
                else:
                    threading.Thread(target=self.attend, args=(conn,), daemon=True).start()

    def attend(self, conn):
        with contextlib.suppress(OSError), conn:
            conn.settimeout(self.patience_s)
            self.talk(conn)
