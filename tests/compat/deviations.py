# SPDX-License-Identifier: GPL-2.0-or-later
"""What our dialects print differently on purpose, as edits of a transcript's form.

The result of the edits is what our program must print exactly. An edit that does not find its text
fails, so that no entry outlives its transcript. The reason of each entry is the rule behind it.
"""

import re

from form import Form

# --- edits ----------------------------------------------------------------------------------------


def find(lines, part):
    """The one place where the lines PART follow each other."""
    places = [i for i in range(len(lines) - len(part) + 1) if lines[i : i + len(part)] == part]
    if len(places) != 1:
        raise LookupError(f"found {len(places)} times in the transcript: {part}")
    return places[0]


def out(old, new):
    """Standard output: the lines OLD become NEW."""

    def edit(form):
        at = find(form.stdout, old)
        return form._replace(stdout=form.stdout[:at] + new + form.stdout[at + len(old) :])

    return edit


def out_each(old, new):
    """Standard output: the text OLD becomes NEW in every line, and must occur."""

    def edit(form):
        if not any(old in line for line in form.stdout):
            raise LookupError(f"not in the transcript: {old}")
        return form._replace(stdout=[line.replace(old, new) for line in form.stdout])

    return edit


def out_end(lines):
    """Standard output: LINES are added at the end."""
    return lambda form: form._replace(stdout=form.stdout + lines)


def out_from(line, new):
    """Standard output: all from LINE to the end becomes NEW."""

    def edit(form):
        at = find(form.stdout, [line])
        return form._replace(stdout=form.stdout[:at] + new)

    return edit


def out_is(lines):
    return lambda form: form._replace(stdout=lines)


def err(*lines):
    """Standard error is exactly LINES."""
    return lambda form: form._replace(stderr=list(lines))


def status(number):
    def edit(form):
        if form.status == number:
            raise LookupError(f"the exit status is {number} already")
        return form._replace(status=number)

    return edit


# --- pieces ---------------------------------------------------------------------------------------


FAIRNESS = [
    "",
    "Threads fairness:",
    "    events (avg/stddev):           <%.4f>/<%3.2f>",
    "    execution time (avg/stddev):   <%.4f>/<%3.2f>",
    "",
]


def report_05(events, title):
    """As report(); without events there is no line of a percentile."""
    times = ["min", "avg", "max"]
    return (
        [*title, ""]
        + [
            "General statistics:",
            "    total time:                          <%.4f>s",
            f"    total number of events:              {events}",
            "    total time taken by event execution: <%.4f>s",
            "    response time:",
        ]
        + [f"         {name}:                            <%10.2f>ms" for name in times]
        + ["         approx.  95 percentile:         <%10.2f>ms"] * (events != "0")
        + FAIRNESS
    )


def report(version, events="<%u>", title=(), percentile="         95th percentile: <%27.2f>"):
    """The final report in its form; TITLE: the lines of the test before the general part."""
    if version == "0.5":
        return report_05(events, title)
    total = f"    total number of events:              {events}"
    general = {
        "1.0.20": [
            "General statistics:",
            "    total time:                          <%.4f>s",
            total,
        ],
        "1.1": [
            "Throughput:",
            "    events/s (eps):                      <%.4f>",
            "    time elapsed:                        <%.4f>s",
            total,
        ],
    }[version]
    latency = [f"         {name}: <%39.2f>" for name in ("min", "avg", "max")] + [
        percentile,
        "         sum: <%39.2f>",
    ]
    return (
        [*title, ""]
        + general
        + ["", "Latency (ms):"]
        + latency
        + FAIRNESS
    )


FILES_1_0 = [
    "",
    "File operations:",
    "    reads/s:                      <%4.2f>",
    "    writes/s:                     <%4.2f>",
    "    fsyncs/s:                     <%4.2f>",
    "",
    "Throughput:",
    "    read, MiB/s:                  <%4.2f>",
    "    written, MiB/s:               <%4.2f>",
]
FILES_0_5 = [
    "Operations performed:  <%u> reads, <%u> writes, <%u> Other = <%u> Total",
    "Read <%b>b  Written <%b>b  Total transferred <%b>b  (<%b>b/sec)",
    "<%8.2f> Requests/sec executed",
]
FILES_1_1 = [
    "",
    "Throughput:",
    "         read:  IOPS=<%4.2f> <%4.2f> MiB/s (<%4.2f> MB/s)",
    "         write: IOPS=<%4.2f> <%4.2f> MiB/s (<%4.2f> MB/s)",
    "         fsync: IOPS=<%4.2f>",
    "",
    "Latency (ms):",
    "         min:                            <%10.2f>",
    "         avg:                            <%10.2f>",
    "         max:                            <%10.2f>",
    "         95th percentile:                <%10.2f>",
    "         sum:                            <%10.2f>",
    "",
]


def file_report(version, events="<%u>"):
    """The final report of fileio in its form; that of 1.1 has no general part."""
    if version == "1.1":
        return FILES_1_1
    return report(version, events, FILES_0_5 if version == "0.5" else FILES_1_0)


CPU = ["CPU speed:", "    events per second: <%8.2f>"]
BANNER = {
    "0.5": "sysbench 0.5:  multi-threaded system evaluation benchmark",
    "1.0.20": "sysbench 1.0.20 (using <which> LuaJIT <version>)",
    "1.1": "sysbench 1.1.0 (using <which> LuaJIT <version>)",
}


def header(version, *options, threads=1):
    return [
        BANNER[version],
        "",
        "Running the test with following options:",
        f"Number of threads: {threads}",
        *options,
        "Random number generator seed is 0 and will be ignored"
        if version == "0.5"
        else "Initializing random number generator from current time",
        "",
        "",
    ]


def cpu_run(version, *options, threads=1, limit=10000, **kwargs):
    """A whole run of the cpu test."""
    return (
        header(version, *options, threads=threads)
        + [
            f"Prime numbers limit: {limit}",
            "",
            "Initializing worker threads...",
            "",
            "Threads started!",
            "",
        ]
        + report(version, title=() if version == "0.5" else CPU, **kwargs)
    )


# --- the table ------------------------------------------------------------------------------------

TABLE = {}


def deviate(versions, names, reason, *edits):
    for version in versions.split():
        for name in names.split():
            if (version, name) in TABLE:
                raise ValueError(f"two entries for {version}/{name}")
            TABLE[version, name] = (
                reason,
                [e(version) if getattr(e, "by_version", False) else e for e in edits],
            )


def per_version(make):
    """An edit that depends on the version: MAKE(version) returns it."""
    make.by_version = True
    return make


BOTH = "1.0.20 1.1"
ALL = "0.5 " + BOTH

deviate(
    ALL,
    "memory-hugetlb",
    "the size is rounded up to whole huge pages, not by a mask of 4 MiB",
    out_each("4202495", "2097152"),
)
# Failing runs.
deviate(
    BOTH,
    "lua-err-event lua-err-event-num lua-err-event-nil lua-err-event-tab",
    "a failing run prints its report too, after the FATAL line",
    per_version(lambda v: out_end(report(v, events="0"))),
)
deviate(
    BOTH,
    "lua-err-thread_done",
    "an error in thread_done() is a failure of the run",
    status(1),
)
deviate(BOTH, "lua-err-done lua-err-help", "an error in done() or help() is a failure", status(1))
deviate(BOTH, "lua-err-par", "a failing parallel command is a failure", status(1))
deviate(
    BOTH,
    "lua-err-hook-rc",
    "an error in a report hook is a failure, and the report comes without the hook",
    per_version(lambda v: out_end(report(v, events="1"))),
    status(1),
)
deviate(
    BOTH,
    "lua-err-hook-ri",
    "an error in a report hook is a failure; the last interval is always reported: it comes twice",
    out_end(["(last message repeated <%u> times)"]),
    status(1),
)
QUEUE_FULL = (
    "FATAL: The event queue is full. This means the worker threads are unable to keep up with the "
    "specified event generation rate"
)
deviate(
    BOTH,
    "cpu-rate-overflow",
    "an overload is reported after the full report, which it does not cost",
    per_version(lambda v: out([QUEUE_FULL], report(v, title=CPU) + [QUEUE_FULL])),
)

# Checkpoints: an empty line is no message, so it is neither swallowed nor counted.
REPEATED = "(last message repeated <%u> times)"


def no_repeated(form):
    if REPEATED not in form.stdout:
        raise LookupError(f"not in the transcript: {REPEATED}")
    return form._replace(stdout=["" if line == REPEATED else line for line in form.stdout])


deviate(BOTH, "threads-checkpoints", "empty lines are not folded", no_repeated)
deviate("1.1", "mutex-checkpoint", "empty lines are not folded", no_repeated)

# Values that were taken for something else without a word.
deviate(
    BOTH,
    "err-threads-negative",
    "a negative number of threads is an invalid value, not a huge one",
    out(["FATAL: Memory allocation failure."], ["FATAL: Invalid value for --threads: -1."]),
)
deviate(
    BOTH,
    "err-stack-size",
    "a size with an unknown letter is refused, not taken for 0",
    out(
        ["FATAL: Invalid value for thread-stack-size: 0."],
        ["FATAL: Invalid value for thread-stack-size: 64Q."],
    ),
)

EVENTS = "    total number of events:              %s"
# The scripting interface.
deviate(
    BOTH,
    "lua-opts-list-typed",
    "a table default may have the explicit type ARG_LIST",
    out_from(
        "FATAL: `sysbench.cmdline.read_cmdline_options' function failed: "
        '[string "sysbench.cmdline.lua"]:<line>: '
        "wrong type for list option l",
        ["a"],
    ),
    status(0),
)
deviate(
    BOTH,
    "lua-validate",
    "each option has its own validate function, called with Lua strings; false refuses the value",
    out_from("vb\tvs\tbad", ["vs\tstring\tstring\tvs\tbad"]),
    err("invalid option: --vs=bad"),
    status(1),
)
deviate(
    "1.0.20",
    "lua-noopts",
    "num_threads follows --threads",
    out(["threads\tnumber\t3\tnum_threads\t1"], ["threads\tnumber\t3\tnum_threads\t3"]),
)


# Files.
deviate(
    ALL,
    "fileio-err-size-suffix",
    "a message names the value as it was typed",
    out(
        ["FATAL: Invalid value for file-total-size: 0"],
        ["FATAL: Invalid value for file-total-size: 2Q"],
    ),
)
deviate(
    BOTH,
    "fileio-rndrw-sync-direct",
    "all flags of --file-extra-flags can be combined",
    per_version(
        lambda v: out_from(
            "FATAL: Unknown extra flags value: 5",
            ["Initializing worker threads...", "", "Threads started!", "", *file_report(v, events="300")],
        )
    ),
    status(0),
)
deviate(
    BOTH,
    "fileio-validate-noprep",
    "a failing run prints its report too, after the FATAL line",
    per_version(lambda v: out_end(file_report(v, events="0"))),
)

deviate(
    "0.5",
    "fileio-rndrw-sync-direct",
    "all flags of --file-extra-flags can be combined",
    out_is(
        header("0.5")
        + [
            "Extra file open flags: 3",
            "4 files, 4Mb each",
            "16Mb total file size",
            "Block size 16Kb",
            "Number of IO requests: 300",
            "Read/Write ratio for combined random IO test: 1.50",
            "Periodic FSYNC enabled, calling fsync() each 100 requests.",
            "Calling fsync() at the end of test, Enabled.",
            "Using synchronous I/O mode",
            "Doing random r/w test",
            "Initializing worker threads...",
            "",
            "Threads started!",
            "",
            *file_report("0.5", events="300"),
        ]
    ),
    status(0),
)
deviate(
    "0.5",
    "fileio-validate-noprep",
    "an error of a request is a failure; the request is no event",
    out_from(
        FILES_0_5[0],
        file_report("0.5", events="0"),
    ),
    status(1),
)
deviate(
    "0.5",
    "fileio-too-small",
    "an error of a request is a failure: files that are too small are refused before the first",
    out_from(
        "Initializing worker threads...",
        [
            "FATAL: Size of file 'test_file.0' is 4Mb, but at least 256Mb is expected.",
            "WARNING: Did you run 'prepare' with different --file-total-size or --file-num values?",
        ],
    ),
    status(1),
)
deviate(
    "0.5",
    "fileio-run-uneven",
    "no position is past the last file, whatever is left of the total size",
    out(["FATAL: Too large position discovered in request!"], []),
    out([EVENTS % 20], [EVENTS % 100]),
)
deviate(
    "0.5",
    "memory-rnd-none",
    "an unknown kind of request is a failure",
    status(1),
)
deviate(
    "0.5",
    "cpu-forced-shutdown-expired",
    "what a forced shutdown interrupts is counted nowhere but in its own line",
    out_from(
        "General statistics:",
        report("0.5", events="0")[1:],
    ),
)

# Names of old versions.
deviate(
    "1.1",
    "err-deprecated-num-threads",
    "the option names of all versions are accepted, with a warning",
    per_version(lambda v: out_is(cpu_run(v, threads=4))),
    err("WARNING: --num-threads is deprecated, use --threads instead"),
    status(0),
)
deviate(
    "1.1",
    "err-deprecated-test",
    "the option names of all versions are accepted, with a warning",
    per_version(lambda v: out_is(cpu_run(v))),
    err(
        "WARNING: the --test option is deprecated. You can pass a script name or path on the "
        "command line without any options."
    ),
    status(0),
)


def cases():
    return set(TABLE)


def expected_form(transcript, form):
    """The form our program must print: the transcript's with its deliberate differences."""
    _, edits = TABLE.get((transcript.version, transcript.name), ("", []))
    for edit in edits:
        form = edit(form)
    return form


def last_interval_is_silent(transcript):
    """True when no line stands for the last interval: the hook that would print it fails."""
    return transcript.name == "lua-err-hook-ri"


# --- what may be absent ----------------------------------------------------------------------------

# Drivers and tests that may be absent from a build; those that are there must be listed like the
# reference's.
MAY_BE_ABSENT = {"mysql", "pgsql"}
ITEM = re.compile(r"  (\w+) - .*")


def sections(lines):
    """Yields (title, lines of the section with the title); a section ends before the next title."""
    title, section = "", []
    for line in lines:
        if line.endswith(":") and not line.startswith(" "):
            yield title, section
            title, section = line[:-1], []
        section.append(line)
    yield title, section


def items(lines, title):
    """The names listed under TITLE."""
    return {
        m.group(1)
        for t, section in sections(lines)
        if t == title
        for m in map(ITEM.fullmatch, section)
        if m
    }


def without(lines, names, options):
    """LINES without the drivers and tests NAMES and the OPTIONS (sets by title of the listing)."""
    kept = []
    for title, section in sections(lines):
        if title.removesuffix(" options") in names:
            continue
        extra = options.get(title, set()) if title.endswith("options") else set()
        kept += [
            line
            for line in section
            if not (ITEM.fullmatch(line) and ITEM.fullmatch(line).group(1) in names)
            and not (line.startswith("  --") and re.match(r"[\w-]+", line[4:]).group(0) in extra)
        ]
    return kept


def expected_listing(expected, got):
    """EXPECTED without the drivers and tests that are not in GOT and may be absent."""
    present = items(got.stdout, "Compiled-in database drivers") | items(
        got.stdout, "Compiled-in tests"
    )
    return expected._replace(stdout=without(expected.stdout, MAY_BE_ABSENT - present, {}))
