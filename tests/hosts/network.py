# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts in namespaces of their own: network, processes, clocks and /dev/shm, which is a small disk.

Each host has an sshd.  Packets between a host and the controller, which is in another network
namespace, take this way: TUN device, tunnel.py (delay, loss), veth, bridge, tunnel.py, TUN device.
Nothing of it is in the namespaces of this process, and all of it ends with this process.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import sshd
from fleet import BENCH, HERE, parent

INNER, OUTER = "10.78.0", "10.77.0"  # of the TUN devices; of the bridge
DISK_KB = 512
# Of what ssh starts: without the start-up files of whoever runs the test.
ENVIRONMENT = "SetEnv TMPDIR=/dev/shm HOME={home} PATH={program}:/usr/bin:/bin"
# What a kernel that has no namespaces, veth or TUN says, and one that does not let this user.
REFUSALS = ("Operation not permitted", "Permission denied", "unshare failed: Invalid argument",
            "Unknown device type", "No such device")

UNSHARE = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "--propagation",
           "unchanged"]
# It begins once its network is there.  UCX, which carries MPICH's messages, finds devices in /sys.
START = """
mount --make-private /dev/shm && mount -t tmpfs -o size={disk}k none /dev/shm || exit 1
mount --make-private /sys && mount -t sysfs none /sys
echo made
read line && exec {sshd} -D -E {log} -f {config}
"""


class Refused(Exception):
    """What the kernel said."""


def batch(pid, lines):
    """Lines of ip(8) in the network namespace of a process."""
    done = subprocess.run(["nsenter", f"--net=/proc/{pid}/ns/net", "ip", "-batch", "-"],
                          input="\n".join(lines), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(done.stderr)


class Host:
    def __init__(self, folder, number, clock_s):
        self.name, self.number = f"h{number + 1}", number + 11
        self.log = folder / f"{self.name}.log"
        config = sshd.write_config(folder / f"{self.name}.config", folder,
                                   f"{INNER}.{self.number}", 22,
                                   ENVIRONMENT.format(program=os.path.dirname(BENCH), home=folder))
        start = START.format(disk=DISK_KB, sshd=sshd.SSHD, log=self.log, config=config)
        self.process = subprocess.Popen(
            [*UNSHARE, "--pid", "--time", "--monotonic", str(clock_s), "--fork",
             "--kill-child=KILL", "sh", "-c", start],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait(self):
        if self.process.stdout.readline() != "made\n":
            raise Refused(self.process.stderr.read())
        pid = self.process.pid
        self.init = int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        self.disk = pathlib.Path(f"/proc/{self.init}/root/dev/shm")
        self.net = os.stat(f"/proc/{pid}/ns/net").st_ino

    def connect(self):
        batch(self.process.pid, [
            "link set lo up",
            f"addr add {OUTER}.{self.number}/24 dev eth0",
            "link set eth0 up",
            f"addr add {INNER}.{self.number}/24 dev tun0",
            "link set tun0 mtu 1400 up",
        ])
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def is_listening(self):
        return self.log.exists() and "Server listening" in self.log.read_text()

    def processes(self):
        """Those of the program: number and command.  In a chroot, paths of other mount namespaces
        begin at another root: files are compared, not names."""
        found = {}
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (os.stat(entry / "ns/net").st_ino == self.net
                        and os.path.samefile(entry / "exe", BENCH)):
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                    found[int(entry.name)] = b" ".join(words).decode(errors="replace")
            except OSError:
                continue  # it has ended
        return found

    def agent(self):
        """The number of its process; None: there is none."""
        found = self.processes()
        return next((pid for pid in found if is_agent(pid, found)), None)

    def fill(self):
        """Leaves no room on its disk."""
        with open(self.disk / "full", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def empty(self):
        (self.disk / "full").unlink(missing_ok=True)


def is_agent(pid, processes):
    """And not its child, which removes its folder."""
    try:
        return parent(pid) not in processes
    except FileNotFoundError:
        return False


class Network:
    """Hosts h1, h2 … with these clocks, in seconds beside that of this machine."""

    def __init__(self, folder, clocks_s):
        self.folder, self.hosts, self.hub, self.tunnel = folder, [], None, None
        sshd.make_keys(folder, "*")
        try:
            self.begin(clocks_s)
        except BaseException:
            self.close()
            raise

    def begin(self, clocks_s):
        self.hub = subprocess.Popen([*UNSHARE, "sh", "-c", "echo made; exec sleep infinity"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for number, clock_s in enumerate(clocks_s):
            self.hosts.append(Host(self.folder, number, clock_s))
        if self.hub.stdout.readline() != "made\n":
            raise Refused(self.hub.stderr.read())
        for host in self.hosts:
            host.wait()
        self.tunnel = subprocess.Popen(
            [sys.executable, HERE / "tunnel.py", str(self.hub.pid),
             *(f"{host.number}:{host.process.pid}" for host in self.hosts)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.tunnel.stdout.readline() != "ready\n":
            raise Refused(self.tunnel.stderr.read())
        self.connect()
        for host in self.hosts:
            host.connect()
        self.await_servers()

    def connect(self):
        lines = ["link set lo up", "link add bridge0 type bridge",
                 f"addr add {OUTER}.1/24 dev bridge0", "link set bridge0 up"]
        for host in self.hosts:
            lines += [f"link add {host.name} type veth peer name eth0 netns {host.process.pid}",
                      f"link set {host.name} master bridge0 up"]
        batch(self.hub.pid, [*lines, f"addr add {INNER}.1/24 dev tun0",
                             "link set tun0 mtu 1400 up"])

    def await_servers(self):
        deadline = time.monotonic() + 60
        while not all(host.is_listening() for host in self.hosts):
            assert time.monotonic() < deadline, "no sshd listens"
            time.sleep(0.02)

    def inside(self, *command):
        """A command in the controller's namespace."""
        return ["nsenter", f"--net=/proc/{self.hub.pid}/ns/net", *map(str, command)]

    def shell(self):
        """For --hosts-shell: ssh from the controller's namespace, which finds hosts by name; h1 is
        app1 too."""
        config, path = self.folder / "config", self.folder / "shell"
        config.write_text("".join(
            f"Host {h.name} app{i + 1}\n  HostName {INNER}.{h.number}\n"
            for i, h in enumerate(self.hosts)))
        command = self.inside(sshd.SSH, sshd.client(self.folder, config=config))
        path.write_text(f"#!/bin/sh\nexec {' '.join(command)} \"$@\"\n")
        path.chmod(0o755)
        return str(path)

    def shows_devices(self):
        """Whether programs on the hosts find their devices in /sys, which a chroot may lack."""
        return all(pathlib.Path(f"/proc/{host.init}/root/sys/class/net/tun0").exists()
                   for host in self.hosts)

    def names(self, count=None):
        return ",".join(host.name for host in self.hosts[:count])

    def set(self, host, there_ms=0, back_ms=0, loss=0.0, cut=False):
        """The way to that host and back."""
        order = {"host": host.number, "there": there_ms, "back": back_ms, "loss": loss, "cut": cut}
        self.tunnel.stdin.write(json.dumps(order) + "\n")
        self.tunnel.stdin.flush()
        assert self.tunnel.stdout.readline() == "done\n", self.tunnel.stderr.read()

    def heal(self):
        """All is as it was at the beginning."""
        for host in self.hosts:
            self.set(host)
            host.empty()

    def left(self, within_s):
        """What runs still have so many seconds later: processes and files of each host."""
        deadline = time.monotonic() + within_s
        while True:
            found = {host.name: [*host.processes().values(),
                                 *(p.name for p in host.disk.iterdir() if p.name != "full")]
                     for host in self.hosts}
            found = {name: what for name, what in found.items() if what}
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(0.05)

    def close(self):
        for process in (self.tunnel, self.hub, *(host.process for host in self.hosts)):
            if process is not None:
                process.kill()
                process.communicate()


def missing():
    """Programs that are not installed."""
    return [tool for tool in ("ip", "nsenter", "setpriv", "unshare") if shutil.which(tool) is None]


def make(folder, clocks_s):
    """None where the kernel or the container does not let this user make namespaces."""
    try:
        return Network(folder, clocks_s)
    except Refused as refused:
        assert any(word in str(refused) for word in REFUSALS), str(refused)
        return None
