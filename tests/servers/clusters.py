# SPDX-License-Identifier: GPL-2.0-or-later
"""Private clusters on loopback: three nodes of Galera, and PostgreSQL with a streaming standby."""

import glob
import os
import re
import time

import servers

GALERA = "/usr/lib*/galera*/libgalera_smm.so"


def wait_until(condition, what, within_s=120):
    """A condition that is not met then never is; that is no measure of how long it may take."""
    end = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what}: not within {within_s} s")
        time.sleep(0.05)


class Node(servers.MariaDB):
    """Of a cluster whose nodes begin with the same data, so that none is sent to them."""

    kind = "galera"

    def __init__(self, template):
        super().__init__(template=template)
        self.group_port, self.transfer_port = servers.free_port(), servers.free_port()
        self.state_port = servers.free_port()  # each node listens there before it knows what it gets
        self.others = []
        self.position = None

    @classmethod
    def missing(cls):
        return super().missing() or (None if glob.glob(GALERA) else "no Galera: install galera-4")

    def command(self):
        others = ",".join(f"127.0.0.1:{node.group_port}" for node in self.others)
        group = {
            "base_host": "127.0.0.1", "base_port": self.group_port,
            "gmcast.listen_addr": f"tcp://127.0.0.1:{self.group_port}",
            "ist.recv_addr": f"127.0.0.1:{self.transfer_port}",
            "evs.suspect_timeout": "PT1S", "evs.inactive_timeout": "PT2S",
            "evs.inactive_check_period": "PT0.25S", "evs.keepalive_period": "PT0.25S",
            "evs.install_timeout": "PT2S", "gcache.size": "64M", "pc.recovery": "false",
        }
        return super().command() + [
            "--wsrep-on=ON", f"--wsrep-provider={glob.glob(GALERA)[0]}", "--wsrep-cluster-name=bench",
            f"--wsrep-cluster-address=gcomm://{others}", "--binlog-format=ROW",
            "--innodb-autoinc-lock-mode=2", "--wsrep-sst-method=rsync", "--wsrep-node-address=127.0.0.1",
            f"--wsrep-node-incoming-address=127.0.0.1:{self.port}",
            f"--wsrep-sst-receive-address=127.0.0.1:{self.state_port}",
            "--wsrep-provider-options=" + ";".join(f"{k}={v}" for k, v in group.items()),
        ] + ([f"--wsrep-start-position={self.position}"] if self.position else [])

    def start(self):
        """Before others where that may be: a node that has to wait for them is put aside."""
        super().start()
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                os.setpriority(os.PRIO_PROCESS, int(task), -10)
            except OSError:
                pass  # only root may, or the thread has ended

    def status(self, name):
        return self.sql(f"SHOW STATUS LIKE 'wsrep_{name}'", check=False).partition("\t")[2].strip()

    def is_synced(self):
        return self.status("local_state_comment") == "Synced"

    def restart(self, others):
        """After it was killed: asks the others for what it missed."""
        log = self.path("recovery.log")
        self.others, self.position = others, None
        servers.run_to_end(self.account, self.command() + ["--wsrep-recover", f"--log-error={log}"])
        with open(log) as f:
            self.position = re.search(r"Recovered position: (\S+)", f.read()).group(1)
        self.start()
        wait_until(self.is_synced, "the node is back")

    def catch_up(self):
        """Returns when it has what was stored on others before."""
        self.sql("SET wsrep_sync_wait = 15; SHOW DATABASES;")


class Galera:
    """Nodes 0, 1 and 2."""

    def __init__(self, template):
        first = Node(template)
        try:
            first.start_somewhere()
            first.create_user()
            first.stop()
            self.nodes = [Node(first.path("data")) for _ in range(3)]
        finally:
            first.remove()

    def start(self):
        for i, node in enumerate(self.nodes):
            node.others = self.nodes[:i]
            node.start()
            wait_until(node.is_synced, f"node {i} has joined")

    def kill(self, node):
        """Returns when the others go on without it."""
        node.kill()
        self.wait_for_two(node)

    def wait_for_two(self, node):
        """All but that one go on; on a busy machine by an order, if they have lost each other, too."""
        rest = [other for other in self.nodes if other is not node]
        ordered = time.monotonic() + 6

        def two_are_left():
            nonlocal ordered
            if time.monotonic() > ordered and rest[0].status("cluster_status") != "Primary":
                rest[0].sql("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=true'")
                ordered += 6
            return all(n.status("cluster_size") == "2" and n.is_synced() for n in rest)

        wait_until(two_are_left, "two nodes go on")

    def login(self):
        return ["--db-driver=mysql", f"--mysql-user={servers.USER}",
                f"--mysql-password={servers.PASSWORD}", f"--mysql-db={servers.DATABASE}",
                "--mysql-host=127.0.0.1", "--mysql-port=" + ",".join(str(n.port) for n in self.nodes)]

    def remove(self):
        for node in self.nodes:
            node.remove()


class Standby(servers.PostgreSQL):
    """Copies another server as it changes, and answers no writer until it is promoted."""

    def __init__(self, primary):
        servers.Server.__init__(self, servers.account_for("postgres"))
        self.certificates, self.options = None, ["hot_standby=on"]
        servers.run_to_end(self.account, [
            servers.find_program("pg_basebackup"), "-D", self.path("data"), "-h", primary.folder, "-p",
            str(primary.port), "-U", "postgres", "-R", "-X", "stream", "--checkpoint=fast", "--no-sync",
        ])

    def promote(self):
        self.sql("SELECT pg_promote()")


class Pair:
    """A primary that acknowledges a commit when its standby has it, and the standby."""

    def __init__(self):
        self.primary, self.standby = servers.PostgreSQL(options=["synchronous_commit=on"]), None

    def start(self):
        self.primary.start_somewhere()
        self.primary.create_user()
        with open(self.primary.path("data/pg_hba.conf"), "a") as f:
            f.write("local replication postgres trust\n")
        with open(self.primary.path("data/postgresql.auto.conf"), "a") as f:
            f.write("synchronous_standby_names = '*'\n")
        self.primary.sql("SELECT pg_reload_conf()")
        self.standby = Standby(self.primary)
        self.standby.start()
        wait_until(self._is_synchronous, "the standby follows")

    def _is_synchronous(self):
        return self.primary.sql("SELECT sync_state FROM pg_stat_replication").strip() == "sync"

    def login(self):
        argv = ["--db-driver=pgsql", f"--pgsql-user={servers.USER}",
                f"--pgsql-password={servers.PASSWORD}", f"--pgsql-db={servers.DATABASE}",
                "--pgsql-host=127.0.0.1"]
        return argv + [f"--pgsql-port={self.primary.port},{self.standby.port}"]

    def remove(self):
        for server in (self.primary, self.standby):
            if server:
                server.remove()
