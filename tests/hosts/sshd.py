# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers for ssh that belong to a test."""

import getpass
import os
import shutil
import subprocess

SSH = shutil.which("ssh")
SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")

CONFIG = """
Port {port}
ListenAddress {address}
HostKey {folder}/host
PidFile none
AuthorizedKeysFile {folder}/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
{more}
"""


def is_there():
    return SSHD is not None and SSH is not None


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path.with_suffix(".pub").read_text()


def make_keys(folder, *names):
    """The keys of a server with these names and of its user."""
    known = " ".join(make_key(folder / "host").split()[:2])
    (folder / "known").write_text("".join(f"{name} {known}\n" for name in names))
    (folder / "authorized").write_text(make_key(folder / "key"))
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", 0o755, exist_ok=True)


def write_config(path, folder, address, port, more):
    path.write_text(CONFIG.format(folder=folder, address=address, port=port, more=more))
    return path


def client(folder, known="known", config="none"):
    """The options of ssh."""
    return (f"-F {config} -i '{folder}/key' -o UserKnownHostsFile='{folder}/{known}'"
            f" -o BatchMode=yes -o StrictHostKeyChecking=yes -l {getpass.getuser()}")
