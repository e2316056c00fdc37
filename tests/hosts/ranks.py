# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs under the launchers of MPI, whose ranks are all on this machine, or on the hosts of a
network, which the launcher reaches by ssh."""

import os
import pathlib
import shutil
import subprocess

from fleet import BENCH, Fleet

# As root and on a small machine, Open MPI wants to be told that this is meant.
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    "mpich": ["mpirun.mpich"],
}
# With a rank for each host.
OVER_SSH = {
    "openmpi": "--bind-to none --mca plm_rsh_agent {shell} --mca plm_rsh_no_tree_spawn 1"
               " --mca routed direct --mca oob_tcp_if_include tun0 --mca btl tcp,self"
               " --mca btl_tcp_if_include tun0 --host {hosts}",
    "mpich": "-launcher ssh -launcher-exec {shell} -iface tun0 -hosts {hosts}",
}
# UCX, which carries MPICH's messages, would try memory that all hosts share, and Open MPI's PMIx
# would need more of it than their small disks hold.
VARIABLES = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "tun0", "PMIX_MCA_gds": "hash"}
RANK = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}


def missing(name):
    """Why there are no such runs here, or None."""
    launcher = LAUNCHERS[name][0]
    module = pathlib.Path(BENCH).parent.parent / "lib" / "bench" / "carriers" / f"{name}.so"
    if shutil.which(launcher) is None:
        return f"no {launcher}: install it to test runs under it"
    return None if module.exists() else f"bench was built without {name}"


class Ranks(Fleet):
    """What a test does with hosts, with ranks."""

    def __init__(self, folder, name):
        super().__init__(folder)
        self.name, self.launcher = name, LAUNCHERS[name]

    def begin_over(self, network, count, *args):
        """On so many hosts of the network."""
        words = OVER_SSH[self.name].format(shell=network.shell(), hosts=network.names(count))
        self.launcher = network.inside(*LAUNCHERS[self.name], *words.split())
        return self.begin(count, *args, **VARIABLES)

    def begin(self, ranks, *args, program=BENCH, stdin=subprocess.DEVNULL, **env):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("BENCH", "LUA_"))}
        clean.update(LC_ALL="C", TMPDIR=str(self.spare), **env)
        # Neither library releases everything, and neither is built for the sanitizers.
        for variable in ("ASAN_OPTIONS", "LSAN_OPTIONS"):
            clean[variable] = clean.get(variable, "") + ":detect_leaks=0"
        # UCX, which carries MPICH's messages, replaces mmap(2), as the sanitizers do.
        if "BENCH_SANITIZER" in os.environ:
            clean["UCX_MEM_MMAP_HOOK_MODE"] = "none"
        self.process = subprocess.Popen(
            [*self.launcher, "-n", str(ranks), program, *map(str, args)],
            cwd=self.folder, env=clean, encoding="utf-8", errors="replace", stdin=stdin,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.begin_s = 0
        return self.process

    def processes(self):
        """Without the launcher, which a test waits for anyway."""
        return {pid: words for pid, words in super().processes().items() if words.startswith(BENCH)}

    def rank(self, number):
        """The process that the launcher has started."""
        for pid in self.processes():
            process = pathlib.Path(f"/proc/{pid}")
            try:
                variables = (process / "environ").read_bytes().split(b"\0")
                name = (process / "comm").read_text().strip()
            except OSError:
                continue
            if f"{RANK[self.name]}={number}".encode() in variables and name == "bench":
                return pid
        raise KeyError(number)
