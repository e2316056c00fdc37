# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of the manual pages that need a server print what the pages show."""

import pytest

import examples

pytestmark = pytest.mark.slow
SERVERS = {"mysql": "mariadb", "pgsql": "postgresql"}
USERS = {"mysql": "sbtest@localhost, sbtest@'127.0.0.1'", "pgsql": "sbtest"}
SESSIONS = [(page, e) for name in SERVERS for page, e in examples.sessions(name)]


def as_administrator(server, name):
    """Runs the statements that bench(1) has for that server; those of PostgreSQL one by one."""
    # Other tests may have made the database of the examples on this server, and its user.
    server.sql("DROP DATABASE IF EXISTS sbtest;")
    server.sql("DROP USER IF EXISTS " + USERS[name])
    [text] = [
        e.text
        for page in examples.pages()
        for e in examples.examples(page)
        if (e.kind, e.name) == ("sql", name)
    ]
    for statement in text.split(";\n"):
        if statement:
            server.sql(statement + ";")


@pytest.mark.parametrize(
    ("page", "session"), SESSIONS, ids=[f"{s.name}-{s.page}:{s.line}" for _, s in SESSIONS]
)
def test_example(page, session, tmp_path, request):
    server = request.getfixturevalue(SERVERS[session.name])
    as_administrator(server, session.name)
    host = f"--{session.name}-host=127.0.0.1"
    examples.write_files(page, session.line, tmp_path)
    examples.run_session(session, tmp_path, [
        (host, f"{host} --{session.name}-port={server.port}"),
        ("@127.0.0.1/", f"@127.0.0.1:{server.port}/"),
    ])


def test_each_server_has_an_example():
    assert {s.name for _, s in SESSIONS} == set(SERVERS)
