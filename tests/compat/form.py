# SPDX-License-Identifier: GPL-2.0-or-later
"""Reduces a recorded or a fresh run to its form, so that two runs can be compared.

The form keeps every byte except what differs from run to run of one and the same program: measured
numbers, host-dependent names and the order of things that really happen at once. A measured number
is recognised only in the line it belongs to, and only when printing it again with the line's printf
conversion gives the same text; so a changed width, precision, label or colon stays visible.
"""

import collections
import difflib
import re
import shlex

Transcript = collections.namedtuple(
    "Transcript", "version name env argv stdin stdout stderr status"
)
Output = collections.namedtuple("Output", "stdout stderr status")
Form = collections.namedtuple("Form", "stdout stderr status")

NO_NEWLINE = "\\ no newline at end of stdout"


# --- transcripts ----------------------------------------------------------------------------------


def parse_transcript(text, version, name):
    """Splits the text of a golden file into the command and what it printed."""
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    if not lines or not lines[0].startswith("$ "):
        raise ValueError(f"{name}: the first line is not a command")
    last = re.fullmatch(r"--- exit status (-?\d+) ---", lines[-1])
    if not last:
        raise ValueError(f"{name}: the last line is not an exit status")
    words = shlex.split(lines[0][2:])
    env = {}
    while words and re.match(r"[A-Za-z_]\w*=", words[0]):
        key, value = words.pop(0).split("=", 1)
        env[key] = value
    if not words or words[0] != "sysbench":
        raise ValueError(f"{name}: the command is not sysbench")
    argv = words[1:]
    stdin = None
    if "<" in argv:
        at = argv.index("<")
        stdin = argv[at + 1]
        argv = argv[:at] + argv[at + 2 :]
    body = lines[1:-1]
    stderr = []
    if "--- stderr ---" in body:
        at = body.index("--- stderr ---")
        body, stderr = body[:at], body[at + 1 :]
    return Transcript(version, name, env, argv, stdin, body, stderr, int(last.group(1)))


def output_lines(data):
    """Splits what was printed into lines; a missing last newline becomes a line of its own."""
    text = data.decode("utf-8", "backslashreplace") if isinstance(data, bytes) else data
    if text == "":
        return []
    if text.endswith("\n"):
        return text[:-1].split("\n")
    return text.split("\n") + [NO_NEWLINE]


# --- lines with measured numbers ------------------------------------------------------------------
#
# A conversion stands for a measured number, one in braces for a number that must be equal.

TEMPLATES = """
[ {%.0f}s ] thds: {%u} eps: %4.2f lat (ms,{%u}%): %4.2f
[ {%.0f}s ] queue length: %u concurrency: %u
[ {%.0f}s ] queue length: %u, concurrency: %u
[ {%.0f}s ] %4.2f MiB/sec
[ {%.0f}s ] reads: %4.2f MiB/s writes: %4.2f MiB/s fsyncs: %4.2f/s latency (ms,{%u}%): %4.3f
    total time:                          %.4fs
    total number of events:              %u
    events/s (eps):                      %.4f
    time elapsed:                        %.4fs
         min: %39.2f
         avg: %39.2f
         max: %39.2f
        {%3d}th percentile: %27.2f
       {%4.1f}th percentile: %27.2f
         sum: %39.2f
         min:                            %10.2f
         avg:                            %10.2f
         max:                            %10.2f
        {%3d}th percentile:                %10.2f
         sum:                            %10.2f
    events (avg/stddev):           %.4f/%3.2f
    execution time (avg/stddev):   %.4f/%3.2f
    events per second: %8.2f
Total operations: %u (%8.2f per second)
%4.2f MiB transferred (%4.2f MiB/sec)
    reads/s:                      %4.2f
    writes/s:                     %4.2f
    fsyncs/s:                     %4.2f
    read, MiB/s:                  %4.2f
    written, MiB/s:               %4.2f
         read:  IOPS=%4.2f %4.2f MiB/s (%4.2f MB/s)
         write: IOPS=%4.2f %4.2f MiB/s (%4.2f MB/s)
         fsync: IOPS=%4.2f
        read:                            %u
        write:                           %u
        other:                           %u
        total:                           %u
    transactions:                        %-6u (%.2f per sec.)
    queries:                             %-6u (%.2f per sec.)
    ignored errors:                      %-6u (%.2f per sec.)
    reconnects:                          %-6u (%.2f per sec.)
{%u} bytes written in %.2f seconds (%.2f MiB/sec).
DEBUG:     thread #{%3d}: min: %.4fs  avg: %.4fs  max: %.4fs  events: %u
DEBUG:                  total time taken by event execution: %.4fs
DEBUG: Executing request, operation: {%u}, file_id: %u, pos: %u, size: {%u}
FATAL: Checksum mismatch in block with offset: %u
FATAL:     Calculated value: 0x%x    Stored value: 0x%x
FATAL: Validation failed on file %u, block offset %u, exiting...
(last message repeated %u times)
{%.0f},{%u},%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f
    "time": {%4.0f},
    "threads": {%u},
    "tps": %4.2f,
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    "latency": %4.2f,
    "errors": %4.2f,
    "reconnects": %4.2f
[{%4.0f}s] %4.2f MB/sec,
[{%4.0f}s] queue length: %u, concurrency: %u
    total time taken by event execution: %.4fs
         min:                            %10.2fms
         avg:                            %10.2fms
         max:                            %10.2fms
         approx. {%3d} percentile:         %10.2fms
Operations performed: %u (%8.2f ops/sec)
%4.2f MB transferred (%4.2f MB/sec)
%8.2f Requests/sec executed
    read/write requests:                 %-6u (%.2f per sec.)
    other operations:                    %-6u (%.2f per sec.)
{%u} bytes written in %.2f seconds (%.2f MB/sec).
DEBUG:                  total time taken by even execution: %.4fs
FATAL: Checksum mismatch in block: 
"""

SQL_INTERVAL = (
    "[ {%.0f}s ] thds: {%u} tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) lat (ms,{%u}%): %4.2f "
)

# Lines too long to stand above, and lines of the test scripts' print().
MORE_TEMPLATES = [
    SQL_INTERVAL + "err/s: %4.2f reconn/s: %4.2f",
    SQL_INTERVAL + "err/s %4.2f reconn/s: %4.2f",
    "[{%4.0f}s] reads: %4.2f MB/s writes: %4.2f MB/s fsyncs: %4.2f/s response time: %4.3fms ({%u}%)",
    "[{%4.0f}s] threads: {%u}, tps: %4.2f, reads: %4.2f, writes: %4.2f, "
    "response time: %4.2fms ({%u}%), errors: %4.2f, reconnects: %5.2f",
    "Operations performed:  %u reads, %u writes, %u Other = %u Total",
    "Read %bb  Written %bb  Total transferred %bb  (%bb/sec)",
    "intermediate\t{%u}\t%u\t%.1f %.1f\t%g",
    "cumulative\t{%u}\t{%u}\t%u\t%.1f %.1f\t{%u}",
]

# %b: a number of bytes as 0.5 prints it, "7.8125M", without its last letter.
CONVERSION = re.compile(r"\{?%(-?\d*)(\.\d+)?([dufxgb])\}?")


def _field_pattern(flags, kind):
    if kind == "g":
        return r"-?\d[-+.e\d]*"
    if kind == "b":
        return r"\d+(?:\.\d+)?[KMGT]?"
    digits = r"[0-9a-f]+" if kind == "x" else r"\d+(?:\.\d+)?"
    if flags.startswith("-"):
        return digits + " *"
    return " *" + digits if flags else digits


def compile_template(template):
    """Returns (regex, [(conversion, kept)]) for one line of TEMPLATES."""
    pattern, fields, at = "", [], 0
    for m in CONVERSION.finditer(template):
        pattern += re.escape(template[at : m.start()])
        at = m.end()
        pattern += "(" + _field_pattern(m.group(1), m.group(3)) + ")"
        fields.append(("%" + m.group(1) + (m.group(2) or "") + m.group(3), m.group(0)[0] == "{"))
    return re.compile(pattern + re.escape(template[at:])), fields


def printed_by(conversion, text):
    """True when TEXT is exactly what printf would write for the number in it."""
    kind = conversion[-1]
    if kind == "g":
        return "%.14g" % float(text) == text
    if kind == "b":
        number = text.rstrip("KMGT")
        return "%.5g" % float(number) == number and float(number) < 1024
    if kind == "x":
        return text == "0" or not text.startswith("0")
    if kind == "f":
        return conversion % float(text) == text
    return text.strip().isdigit() and conversion.replace("u", "d") % int(text) == text


COMPILED = [compile_template(t) for t in TEMPLATES.strip("\n").split("\n") + MORE_TEMPLATES]


def known_line(line):
    """(match, fields) of the template that the line is printed by, or None."""
    for regex, fields in COMPILED:
        m = regex.fullmatch(line)
        if m and all(printed_by(c, g) for (c, _), g in zip(fields, m.groups())):
            return m, fields
    return None


def mask_line(line):
    """Replaces the measured numbers of a known line by their conversions."""
    known = known_line(line)
    if known is None:
        return line
    m, fields = known
    out, at = "", 0
    for i, (conversion, kept) in enumerate(fields, 1):
        out += line[at : m.start(i)] + (m.group(i) if kept else "<" + conversion + ">")
        at = m.end(i)
    return out + line[at:]


# --- names that belong to a build or a host -------------------------------------------------------

SUBSTITUTIONS = [
    (re.compile(r"\b1\.1\.0-[0-9a-f]{7}\b"), "1.1.0"),
    (re.compile(r"\(using (?:system|bundled) LuaJIT \S+\)"), "(using <which> LuaJIT <version>)"),
    # Lua shortens a long path from its left: "...any/part/of/it/oltp_common.lua".
    (re.compile(r"(?:\.\.\.[^\s:/]*/|(?<!\w)/|\bPREFIX/)[^\s:]*/(\w+\.lua):\d+:"), r"<datadir>/\1:<line>:"),
    (re.compile(r"(?:tests/db|oltp_legacy)/(\w+\.lua):\d+:"), r"<datadir>/\1:<line>:"),
    (re.compile(r"(?<=cannot open )(?:/|PREFIX/)\S*/(?=\S+\.lua:)"), "<datadir>/"),
    (re.compile(r"(?<=Validation failed on file )\d+, block offset 0x[0-9a-f]+,"), "<%u>, block offset 0x<%x>,"),
    (re.compile(r'(\[string "sysbench\.\w+\.lua"\]):\d+:'), r"\1:<line>:"),
    (re.compile(r"\b0x[0-9a-f]{6,16}\b"), "<address>"),
    (re.compile(r"'struct \d+'"), "'struct <n>'"),
    (re.compile(r"cdata<enum \d+>"), "cdata<enum <n>>"),
    (re.compile(r"^abc-\d\d-[a-z]{2}-\d{3}\t"), "abc-##-@@-###\t"),
]


def substitute(line):
    for regex, by in SUBSTITUTIONS:
        line = regex.sub(by, line)
    return line


# --- what the command line tells about the run ----------------------------------------------------


class Context:
    """The facts about a run that its form depends on."""

    def __init__(self, argv, name="", version=""):
        options = {}
        for arg in argv:
            if arg.startswith("--"):
                key, _, value = arg[2:].partition("=")
                options[key.replace("_", "-")] = value
        self.name = name
        self.version = version

        def number(keys, default):
            for key in keys:
                if options.get(key, "").isdigit():
                    return int(options[key])
            return default

        self.threads = number(["num-threads", "threads"], 1)
        self.time = number(["max-time", "time"], 0 if version == "0.5" else 10)
        self.interval = number(["report-interval"], 0)
        self.checkpoints = bool(options.get("report-checkpoints"))
        # With an event limit, or where NAME is known to end by itself, the number of events is no
        # measurement.
        self.exact_events = (
            number(["max-requests", "events"], 0) > 0 and name not in ENDED_BY_TIME
        ) or name in EXACT_EVENTS


# 10,000 events take longer than the 10 s of the default limit.
ENDED_BY_TIME = {"seed000-threads"}

EXACT_EVENTS = {
    "lua-stop",
    "lua-luajit-cmd-v",
    "cpu-forced-shutdown-expired",
    "config-c3",
    "mutex-basic",
    "mutex-default",
    "mutex-verbosity4",
    "mutex-checkpoint",
}


# --- blocks ---------------------------------------------------------------------------------------

HISTOGRAM_HEAD = "Latency histogram (values are in milliseconds)"
HISTOGRAM_COLUMNS = "       value  ------------- distribution ------------- count"
HISTOGRAM_ROW = re.compile(r"( *\d+\.\d{3}) \|([* ]{40}) (\d+)")


def reduce_histograms(lines):
    """Replaces the rows of each latency histogram by one line, if all of them are well formed."""
    out, i = [], 0
    while i < len(lines):
        out.append(lines[i])
        i += 1
        if out[-2:] != [HISTOGRAM_HEAD, HISTOGRAM_COLUMNS]:
            continue
        rows = []
        while i < len(lines) and HISTOGRAM_ROW.fullmatch(lines[i]):
            rows.append(HISTOGRAM_ROW.fullmatch(lines[i]).groups())
            i += 1
        if rows:
            out += (
                ["<histogram rows>"] if good_rows(rows) else [f"{v} |{b} {c}" for v, b, c in rows]
            )
    return out


def good_rows(rows):
    counts = [int(c) for _, _, c in rows]
    values = [float(v) for v, _, _ in rows]
    return (
        values == sorted(values)
        and min(counts) > 0
        and all("%12.3f" % float(v) == v for v, _, _ in rows)
        and all(
            bar == ("*" * ((80 * n + max(counts)) // (2 * max(counts)))).ljust(40)
            for (_, bar, _), n in zip(rows, counts)
        )
    )


OPTION = re.compile(
    r"  (--[\w-]+(?:=(?:\[LIST,\.\.\.\]|\[on\|off\]|[A-Z]+)|\[=on\|off\])?)( *)(\S|\S.*?\S)( \[[^\[\]]*\])?"
)


def description_column(block, version):
    """Where the descriptions of a block of options must start."""
    if version == "0.5":
        # Only names count, so that a long form may touch its description.
        return max((len(re.match(r"[\w-]+", name).group()) for name, *_ in block), default=0) + 8
    return max((len(name) for name, *_ in block), default=0) + 1


def reduce_options(lines, version=""):
    """Masks the descriptions of option lists; they must start in one column."""
    out, i = [], 0
    while i < len(lines):
        block = []
        while i < len(lines) and OPTION.fullmatch(lines[i]):
            block.append(OPTION.fullmatch(lines[i]).groups())
            i += 1
        column = description_column(block, version)
        for name, gap, desc, default in block:
            layout = ""
            if len(name) + len(gap) != max(column, len(name)):
                layout = f" <column {len(name) + len(gap)} of {column}>"
            out.append(f"  {name} <desc>{default or ''}{layout}")
        if i < len(lines):
            out.append(lines[i])
            i += 1
    return out


STAMP = re.compile(r"\[ *(\d+)s ?\] (?!Checkpoint report:)")
CSV_STAMP = re.compile(r"(\d+),\d+(?:,[\d.]+){8}")
HOOK = re.compile(r"(?:intermediate|ri)\t")


def interval_units(lines):
    """Yields (line, None) or (first line, unit); a unit is the lines of one interval report."""
    i = 0
    while i < len(lines):
        stamp = STAMP.match(lines[i]) or CSV_STAMP.fullmatch(lines[i])
        unit = [lines[i]]
        i += 1
        if stamp and lines[i - 1].startswith("["):
            while i < len(lines) and STAMP.match(lines[i]) and lines[i].startswith(stamp.group(0)):
                unit.append(lines[i])
                i += 1
        elif unit[0] == "  {":
            while i < len(lines) and unit[-1] not in ("  }", "  },"):
                unit.append(lines[i])
                i += 1
        elif not stamp and not HOOK.match(unit[0]):
            yield unit[0], None
            continue
        yield unit[0], unit


def has_intervals(lines):
    return any(unit for _, unit in interval_units(lines))


def unit_time(unit):
    """The time an interval report shows, or None when it shows none."""
    m = STAMP.match(unit[0]) or CSV_STAMP.fullmatch(unit[0])
    if m:
        return int(m.group(1))
    for line in unit:
        m = re.fullmatch(r'    "time": +(\d+),', line)
        if m:
            return int(m.group(1))
    return None


def with_time(report, time):
    """The lines of an interval report with TIME, in seconds, as its time; 0.5 and JSON pad it."""
    lines = []
    for line in report:
        line = re.sub(r"^\[ *\d+s\]", f"[{time:4}s]", line)
        line = re.sub(r"^\[ \d+s \]", f"[ {time}s ]", line)
        line = re.sub(r'^    "time": +\d+,', f'    "time": {time:4},', line)
        lines.append(re.sub(r"^\d+,", f"{time},", line) if CSV_STAMP.fullmatch(line) else line)
    return lines


def one_by_one(unit):
    """The reports in UNIT: those that bear one time look like one."""
    first = mask_line(unit[0])
    at = [i for i, line in enumerate(unit) if mask_line(line) == first]
    return [unit[i:j] for i, j in zip(at, at[1:] + [len(unit)])]


def ticks_of(times, last):
    """The interval at whose end each report was due, counted from 1: the latest that it can be for.

    None when there are too many of them, or one is early."""
    ticks, after = [], last + 1
    for time in reversed(times):
        after = min(time, after - 1)
        ticks.insert(0, after)
    return ticks if ticks and ticks[0] > 0 else None


def lines_on_schedule(lines, ctx):
    """LINES as they were had the reporter been woken in time; for what is wrong as it stands.

    On a loaded machine a report comes late, and the time on it says so: half a second late it bears
    the time of the next one, later still it stands for both. So each gets the time it was due, and
    one that stands for several is there for each of them. What is early, too much, or missing at
    the end stays as it is. Where reports bear no time, the first one stands for those missing."""
    pieces = [
        (report, unit is not None)
        for line, unit in interval_units(lines)
        for report in (one_by_one(unit) if unit else [[line]])
    ]
    times = [unit_time(report) for report, is_report in pieces if is_report]
    if not times or not ctx.interval or not ctx.time:
        return lines
    last = ctx.time // ctx.interval
    if None in times:
        ticks = list(range(max(last - len(times), 0) + 1, max(last, len(times)) + 1))
    else:
        ticks = ticks_of([time // ctx.interval for time in times], last)
    if ticks is None:
        return lines
    out, before = [], 0
    for piece, is_report in pieces:
        if not is_report:
            out += piece
            continue
        tick = ticks.pop(0)
        for due in range(before + 1, tick + 1):
            copy = with_time(piece, due * ctx.interval)
            out += copy[:-1] + ["  },"] if copy[-1] == "  }" and due < tick else copy
        before = tick
    return out


def on_schedule(output, ctx):
    return output._replace(stdout=lines_on_schedule(output.stdout, ctx))


def unless_late(compare, ctx):
    """COMPARE(of): the differences of two runs, whose outputs are of(output); as if no report had been
    late, when they differ otherwise."""
    return compare(lambda output: output) and compare(lambda output: on_schedule(output, ctx))


def last_interval_reported(lines, ctx):
    """True when the report of the last complete interval is there; None: the run asked for none."""
    if not ctx.interval or not ctx.time:
        return None
    units = [u for _, u in interval_units(lines) if u]
    times = [unit_time(u) for u in units]
    if None in times:
        return len(units) >= ctx.time // ctx.interval
    return bool(times) and max(times) >= ctx.time


JSON_FRAME = re.compile(r'  \{|    "qps": \{|    \},|  \},?')


def well_formed(unit):
    """Is each line of an interval report one whose numbers are known, or a frame around those?  The
    form of a script's own lines is not known."""
    return HOOK.match(unit[0]) or all(
        JSON_FRAME.fullmatch(line) or known_line(line) for line in unit
    )


def reduce_intervals(lines, ctx):
    """Drops the report of the last interval, which the reference prints or not by chance, unless it
    is damaged.

    Where checkpoints are reported too, two threads of the reference print at once: then interval
    reports are moved behind all other lines."""
    if not ctx.interval:
        return lines
    rest, units, seen = [], [], 0
    for line, unit in interval_units(lines):
        if unit is None:
            rest.append(line)
            continue
        seen += 1
        at = unit_time(unit)
        is_last = (at >= ctx.time) if at is not None else (seen * ctx.interval >= ctx.time)
        if is_last and well_formed(unit):
            if unit[-1] == "  }" and rest and rest[-1] == "  },":
                rest[-1] = "  }"
            continue
        (units if ctx.checkpoints else rest).extend(unit)
    return rest + (["<interval reports>"] + units if ctx.checkpoints else [])


THREAD_DEBUG = re.compile(
    r"DEBUG: (?:Worker thread \(#\d+\) (?:started!?|initialized)"
    r"|(?:Event generating|Reporting|Checkpoints report) thread started)"
)
INITIALIZING = "Initializing worker threads..."
STARTED = "Threads started!"


def started_first(lines):
    """In 0.5 the first requests may be executed before the line that says that threads started."""
    early = [i for i, line in enumerate(lines) if line.startswith("DEBUG: Executing request")]
    at = lines.index(STARTED) if STARTED in lines else 0
    early = [i for i in early if i < at]
    if not early:
        return lines
    kept = [line for i, line in enumerate(lines[: at + 2]) if i not in early]
    return kept + [lines[i] for i in early] + lines[at + 2 :]


def reduce_thread_debug(lines):
    """Threads announce themselves in any order before they all start: puts these lines, sorted,
    in one place."""
    end = lines.index(STARTED) if STARTED in lines else len(lines)
    found = sorted(line for line in lines[:end] if THREAD_DEBUG.fullmatch(line))
    if not found or INITIALIZING not in lines:
        return lines
    rest = [line for line in lines[:end] if not THREAD_DEBUG.fullmatch(line)] + lines[end:]
    rest = started_first(rest)
    at = rest.index(INITIALIZING) + 2
    return rest[:at] + found + rest[at:]


# Where several threads print() at once even the characters of lines get mixed. There the characters
# are counted: (start line, end line, do the digits depend on which thread was faster).
SCRAMBLED = {
    "lua-phases-run": [
        (INITIALIZING, STARTED, False),
        (STARTED, "General statistics:|Throughput:", True),
    ],
    "lua-report-tids": [(INITIALIZING, STARTED, False)],
    "lua-cmd-par3": [(INITIALIZING, None, False)],
}


def reduce_scrambled(lines, name):
    for first, last, digits in SCRAMBLED.get(name, []):
        if first not in lines:
            continue
        start = lines.index(first) + 1
        end = len(lines)
        if last is not None:
            end = next((i for i in range(start, len(lines)) if re.fullmatch(last, lines[i])), end)
        text = "\n".join(lines[start:end])
        if digits:
            text = re.sub(r"\d", "N", text)
        counts = sorted(collections.Counter(text).items())
        lines = (
            lines[:start]
            + ["<characters " + " ".join(f"{c!r}:{n}" for c, n in counts) + ">"]
            + lines[end:]
        )
    return lines


TOTAL = re.compile(r"    total number of events:              \d+")


# 1.1 counts the event that is in flight at the end of the warm-up on top of --events. On a loaded
# machine a thread may have none just then.
ONE_MORE = {"cpu-warmup-events": ("1000", "1001")}


def total_events(line, ctx):
    either = ONE_MORE.get(ctx.name, ())
    label, number = line.rsplit(" ", 1)
    return f"{label} <{' or '.join(either)}>" if number in either else line


def reduce_output(output, ctx):
    """The form of what a run printed; OUTPUT holds lists of lines."""
    lines = [substitute(line) for line in output.stdout]
    lines = reduce_histograms(lines)
    lines = reduce_options(lines, ctx.version)
    lines = reduce_intervals(lines, ctx)
    lines = reduce_thread_debug(lines)
    lines = reduce_scrambled(lines, ctx.name)
    lines = [
        total_events(line, ctx) if ctx.exact_events and TOTAL.fullmatch(line) else mask_line(line)
        for line in lines
    ]
    return Form(lines, [substitute(line) for line in output.stderr], output.status)


def context(transcript):
    return Context(transcript.argv, transcript.name, transcript.version)


def transcript_form(transcript):
    output = Output(transcript.stdout, transcript.stderr, transcript.status)
    return reduce_output(output, context(transcript))


AT = re.compile(r"\[ *(\d+)s ?\](?= Checkpoint report:)")
LATEST = 30  # seconds; what comes later than that is no matter of the machine


def on_time(expected, got):
    """GOT with the time of a checkpoint that is later than the one of EXPECTED as it is there.

    A machine with more to do than it can wakes the reporter half a second late, or two, which the
    time on the line says truly. That happens to one report and not to the next: unless one of
    several is on time, nothing is changed."""
    wanted = [(line, AT.match(line)) for line in expected.stdout if AT.match(line)]
    at = [i for i, line in enumerate(got.stdout) if AT.match(line)]
    times = [int(AT.match(got.stdout[i]).group(1)) for i in at]
    if len(wanted) != len(at) or times != sorted(times):
        return got
    late = {}
    for i, (_, want) in zip(at, wanted):
        have = AT.match(got.stdout[i])
        if 0 < int(have.group(1)) - int(want.group(1)) <= LATEST:
            late[i] = want.group(0) + got.stdout[i][have.end():]
    due = {want.group(0) for _, want in wanted}
    if len(due) > 1 and len(late) == len(at):
        return got
    return got._replace(stdout=[late.get(i, line) for i, line in enumerate(got.stdout)])


def form_lines(form):
    return (
        ["out| " + line for line in form.stdout]
        + ["err| " + line for line in form.stderr]
        + [f"exit status {form.status}"]
    )


def differences(expected, got):
    """The unified difference of two forms as a list of lines; empty when they are equal."""
    return list(
        difflib.unified_diff(
            form_lines(expected), form_lines(got), "expected", "got", lineterm="", n=2
        )
    )
