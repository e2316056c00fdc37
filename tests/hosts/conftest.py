# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts for the tests of this folder."""


import pytest

import fleet as fleets
import network as networks
import sshd

# Of h1, h2 …, beside that of this machine.
CLOCKS_S = (0, 5, -5, 1000, 0, 5, -5, 86400)


@pytest.fixture
def fleet(tmp_path):
    made = fleets.Fleet(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="session")
def all_hosts(tmp_path_factory):
    if not sshd.is_there():
        pytest.skip("no sshd: install openssh-server")
    if networks.missing():
        pytest.skip(f"not installed: {networks.missing()}; install iproute2 and util-linux")
    made = networks.make(tmp_path_factory.mktemp("network"), CLOCKS_S)
    yield made
    if made is not None:
        made.close()


@pytest.fixture
def network(all_hosts):
    """None where no namespaces may be made, which network.py has looked into."""
    yield all_hosts
    if all_hosts is not None:
        all_hosts.heal()
