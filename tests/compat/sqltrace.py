# SPDX-License-Identifier: GPL-2.0-or-later
"""Reduces what a database received, and what our program says it sent, to comparable statements.

Kept: the session, the order and the text of statements. Reduced: white space, values (`?`), and of
CREATE TABLE the id column, key clauses and options, which belong to a database engine."""

import re

LITERAL = re.compile(r"'(?:[^']|'')*'|(?<![\w+])-?\d+(?:\.\d+)?\b")
ROW = re.compile(r"\((?:[^()]|'[^']*')*\)")
CAPTURE_LINE = re.compile(r"\[c(\d+)\] (Connect|Query|Prepare|Execute|Close stmt|Quit)(?: (.*))?")
TRACE_LINE = re.compile(r"\[s(\d+)\] (.*)")


def parse_capture(text):
    """Statements of a server's log as (connection, kind, text), without connecting and closing."""
    found = []
    for line in text.splitlines():
        m = CAPTURE_LINE.fullmatch(line)
        if m:
            found.append([int(m.group(1)), m.group(2), m.group(3) or ""])
        elif found:
            found[-1][2] += "\n" + line
        else:
            raise ValueError(f"not a line of a capture: {line!r}")
    return [tuple(f) for f in found if f[1] in ("Query", "Prepare", "Execute")]


def parse_trace(text):
    """Statements of --sql-trace=FILE as (session, text)."""
    found = []
    for line in text.splitlines():
        m = TRACE_LINE.fullmatch(line)
        if not m:
            raise ValueError(f"not a line of a trace: {line!r}")
        found.append((int(m.group(1)), m.group(2)))
    return found


def columns(definition):
    """Splits the text between the parentheses of a CREATE TABLE at its top-level commas."""
    parts, depth, start = [], 0, 0
    for at, c in enumerate(definition):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(definition[start:at])
            start = at + 1
    return [part.strip() for part in parts + [definition[start:]]]


def create_table(text):
    """The form of a CREATE TABLE: its name and all columns but id."""
    head, _, rest = text.partition("(")
    body = rest[: rest.rindex(")")]
    parts = columns(body)
    if not any(re.match(r"id ", part) for part in parts):
        return text
    kept = [part for part in parts if not re.match(r"id |PRIMARY KEY\b|KEY xid\b", part)]
    return f"{head.strip()} (id, {', '.join(kept)})"


def statement(text):
    """The form of one statement."""
    text = " ".join(text.replace("\\n", " ").split())
    if text.startswith("CREATE TABLE"):
        # An engine's own part follows the last parenthesis.
        return create_table(re.sub(r"\) /\*! ENGINE.*", ")", text))
    if re.match(r"INSERT INTO \w+(?:\([^)]*\))? VALUES ?\(", text):
        # Bulk insert: the number of rows is a matter of the table size and the length of a packet.
        head, _, rows = text.partition("VALUES")
        rows = re.sub(r"\[\.\.\. \d+ characters left out here \.\.\.\].*", "", rows)
        first = ROW.match(rows.strip())
        return head + "VALUES" + LITERAL.sub("?", first.group(0)) + ",..."
    return LITERAL.sub("?", re.sub(r"^BEGIN IMMEDIATE$", "BEGIN", text))


def any_table(text):
    """For runs on several tables, where the table is drawn: hides which one it was."""
    return re.sub(r"\bsbtest\d+\b", "sbtest#", text)


def sessions(statements, draw_table=False):
    """The forms by session; sessions sorted, because threads get their connections in any order."""
    by = {}
    for session, text in statements:
        form = statement(text)
        by.setdefault(session, []).append(any_table(form) if draw_table else form)
    return sorted(by.values())


def capture_sessions(text, draw_table=False):
    return sessions([(c, t) for c, kind, t in parse_capture(text) if kind != "Prepare"], draw_table)


def trace_sessions(text, draw_table=False):
    return sessions(parse_trace(text), draw_table)
