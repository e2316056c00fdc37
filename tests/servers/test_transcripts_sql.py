# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the golden transcripts with MySQL and PostgreSQL print the same form.

Where ours differs on purpose, forms/VERSION/NAME.txt has the whole form that is expected instead;
its first line is the reason. FORMS_FILL=1 writes what is printed behind that line, for review."""

import os
import pathlib
import re

import pytest

import transcripts  # noqa: F401  (finds the folder of the next three)
import deviations
import form
import runner

FORMS = pathlib.Path(__file__).parent / "forms"
PREFIXES = ("conn-", "mysql-", "pgsql-", "sql-", "lua-", "seed")

# Needs a server on the default port.
DEFAULT_PORT = ("0.5", "conn-empty-port")

# Anything a run may draw by itself.
DRAWN = re.compile(r"(?<=WHERE id=)\d+(?='|\"|$)")
# Always 0 in the recordings, as nothing measured it.
MEASURED = re.compile(r"^(DEBUG: +(?:min|avg|max|total): +)\d+\.\d{4}s$")
PASSWORD = re.compile(r'(mysql_real_connect\(<address>, "[^"]*", "[^"]*", )"[^"]*"')


def runs_on_server(version, name):
    argv = runner.load(version, name).argv
    return "-mysql" in name or "-pgsql" in name or any(a.startswith("--db-driver=") for a in argv)


# Workloads of later versions that do what one of 0.5 does.
SAME = {"oltp_read_write": "oltp", "oltp_read_only": "oltp-readonly", "oltp_point_select": "select",
        **{f"oltp_{name}": name for name in ("insert", "delete", "update_index", "update_non_index")}}
# What a driver and its server have their own words for.
WORDED = re.compile(r"prepare$|err-|exist|missing|again|ssl")


def kind(name):
    """What a transcript shows, with either driver and any workload that does the same."""
    found = re.fullmatch(r"(mysql|pgsql)-(?:legacy-)?([^-]*)(.*)", name)
    if not found:
        return name
    driver, workload, rest = found.groups()
    what = SAME.get(workload, workload) + rest
    return f"{driver}-{what}" if WORDED.search(what) else what


def cases():
    found = []
    for version in ("0.5", "1.0.20", "1.1"):
        for prefix in PREFIXES:
            for path in sorted((runner.GOLDEN / version).glob(prefix + "*.txt")):
                on_server = prefix not in ("lua-", "seed") or runs_on_server(version, path.stem)
                if on_server and (version, path.stem) != DEFAULT_PORT:
                    found.append((version, path.stem))
    return runner.for_this_build(found, kind)


# What Oracle's server and library say where MariaDB's, with which the transcripts were made, say it
# in other words.
WORDS = [
    (r"error 2003: Can't connect to MySQL server on '([^':]+):\d+' \(111\)",
     r"error 2002: Can't connect to server on '\1' (115)"),
    (r"Can't connect to local MySQL server through", "Can't connect to local server through"),
    (r"Lost connection to MySQL server", "Lost connection to server"),
    (r"(Unknown column '\w+') in 'field list'", r"\1 in 'SELECT'"),
    (r"corresponds to your MySQL server version", "corresponds to your MariaDB server version"),
    (r"SSL connection error: SSL is required but the server doesn't support it",
     "encryption was asked for, but the server does not offer it"),
]

# What the reference prints more where it meets MySQL, which cannot prepare BEGIN as MariaDB can.
ON_MYSQL = {
    "mysql-oltp_read_write-db-debug": deviations.out(["Threads started!"], [
        'Failed to prepare query "BEGIN" (1295: This command is not supported in the prepared statement '
        "protocol yet), using emulation", "Threads started!"]),
}


def in_mariadbs_words(text):
    for theirs, ours in WORDS:
        text = re.sub(theirs, ours, text)
    return text


QUERY_LENGTH = re.compile(r'(?<=mysql_real_query\(<address>, ")(.*)", (\d+)(?=\) = )')


def checked_length(found):
    """A query's length is right, or it stays."""
    sql, length = found.groups()
    return f'{sql}", ' + ("<length>" if len(sql) == int(length) else length)


def common(text):
    """One form for what is random, secret, or in another file of ours."""
    text = QUERY_LENGTH.sub(checked_length, text)
    text = MEASURED.sub(r"\1<seconds>", text)
    text = DRAWN.sub("<id>", PASSWORD.sub(r'\1"***"', text))
    return re.sub(r"/(oltp_tables|select_random_\w+)\.lua:", "/oltp_common.lua:", text)


def folded(lines):
    """Failures of several threads print at the same time: each message once, in order."""
    out = []
    for line in lines:
        if not line.startswith("(last message repeated") and (line == "" or line not in out):
            out.append(line)
    return out


CLOSING = re.compile(r"DEBUG: mysql_(?:close\(<address>\)|thread_end\(\))")


def closed_in_any_order(lines):
    """Sorts what closes connections: a script that leaves them to the collector has them closed by
    the reference in another order at every run, before and after the end of their thread."""
    found = [i for i, line in enumerate(lines) if CLOSING.fullmatch(line)]
    lines = list(lines)
    for i, line in zip(found, sorted(lines[i] for i in found)):
        lines[i] = line
    return lines


def as_form(transcript, output):
    f = form.reduce_output(output, form.context(transcript))
    f = f._replace(stdout=[common(line) for line in f.stdout])
    if "L/multi.lua" in transcript.argv:
        f = f._replace(stdout=closed_in_any_order(f.stdout))
    if "oltp-missing-table" in transcript.name:
        # Which of the two is drawn first.
        f = f._replace(stdout=[re.sub(r"\bsbtest[12]\b", "sbtest<n>", line) for line in f.stdout])
    if transcript.name == "seed001-legacy-prepare":
        # Ten threads make two tables at once.
        f = f._replace(stdout=sorted(f.stdout))
    if "threads4-fail" in transcript.name:
        f = f._replace(stdout=folded(f.stdout), stderr=folded(f.stderr))
    if transcript.version == "0.5" and f.status != 0:
        f = f._replace(stdout=without_start_05(f))
    return f


def without_start_05(f):
    """0.5 says that it initializes threads once they are running, which one that failed was faster
    than; and it ends at once where ours has two more words."""
    drop = {form.INITIALIZING}
    if any("PANIC" in line for line in f.stderr):
        drop.add("FATAL: Thread initialization failed!")
    out = []
    for line in f.stdout:
        if line not in drop and not (line == "" and out and out[-1] == ""):
            out.append(line)
    return out


def own_form(transcript):
    """The reason and the form that ours has on purpose, or None."""
    path = FORMS / transcript.version / f"{transcript.name}.txt"
    if not path.exists():
        return None
    lines = path.read_text().split("\n")
    status = int(re.fullmatch(r"--- exit status (-?\d+) ---", lines[-2]).group(1))
    body, err = lines[1:-2], []
    if "--- stderr ---" in body:
        at = body.index("--- stderr ---")
        body, err = body[:at], body[at + 1 :]
    return lines[0], form.Form(body, err, status)


def fill(transcript, got):
    path = FORMS / transcript.version / f"{transcript.name}.txt"
    reason = path.read_text().split("\n")[0] if path.exists() else "REASON"
    err = ["--- stderr ---", *got.stderr] if got.stderr else []
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [reason, *got.stdout, *err, f"--- exit status {got.status} ---", ""]
    path.write_text("\n".join(lines))


@pytest.mark.parametrize("case", cases(), ids="/".join)
def test_transcript(case, mariadb_plain, postgresql):
    check_transcript(case, mariadb_plain, postgresql)


def test_empty_port_is_the_default(mariadb_default_port, postgresql):
    check_transcript(DEFAULT_PORT, mariadb_default_port, postgresql)


def check_transcript(case, mariadb_plain, postgresql):
    transcript = runner.load(*case)
    golden = as_form(transcript, form.Output(transcript.stdout, transcript.stderr, transcript.status))
    golden = deviations.expected_form(transcript, golden)
    if mariadb_plain.vendor == "MySQL" and transcript.name in ON_MYSQL:
        golden = ON_MYSQL[transcript.name](golden)
    own = own_form(transcript)
    output = transcripts.run(transcript, mariadb_plain, postgresql)
    output = output._replace(stdout=[in_mariadbs_words(line) for line in output.stdout])
    expected = own[1] if own else golden

    def compare(of):
        return form.differences(expected, form.on_time(expected, as_form(transcript, of(output))))

    wrong = form.unless_late(compare, form.context(transcript))
    if wrong and os.environ.get("FORMS_FILL") == "1":
        fill(transcript, form.on_time(expected, as_form(transcript, output)))
    if wrong:
        printed = ["--- printed ---", *output.stdout, "--- stderr ---", *output.stderr]
        end = f"--- exit status {output.status} ---"
        pytest.fail("\n".join([*wrong, *printed, end]), pytrace=False)
    assert not own or form.differences(golden, own[1]), "forms/ repeats the transcript"
