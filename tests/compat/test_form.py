# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the form hides what varies between runs of one program, and nothing else."""

import random
import re
import zlib

import pytest

import form
import gate
import runner

GOLDEN = [(v, p.stem) for v in runner.DIALECT for p in sorted((runner.GOLDEN / v).glob("*.txt"))]
# The gate damages one in fifteen: what these tests look at is the comparison, not the program.
DAMAGED = [row if zlib.crc32("/".join(row).encode()) % 15 == 0 else gate.slow(*row) for row in GOLDEN]


def reduced(stdout, stderr=(), status=0, argv=(), name=""):
    return form.reduce_output(
        form.Output(list(stdout), list(stderr), status), form.Context(list(argv), name)
    )


def differ(expected, got, argv=(), name=""):
    return form.differences(
        reduced(expected, argv=argv, name=name), reduced(got, argv=argv, name=name)
    )


# --- parsing --------------------------------------------------------------------------------------


def test_parse_transcript():
    text = (
        "$ A=1 sysbench --x='a b' run < in.lua\nout\n\n"
        "--- stderr ---\nbad\n--- exit status -11 ---\n"
    )
    assert form.parse_transcript(text, "1.1", "n") == form.Transcript(
        "1.1", "n", {"A": "1"}, ["--x=a b", "run"], "in.lua", ["out", ""], ["bad"], -11
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "out\n--- exit status 0 ---\n",
        "$ sysbench run\nout\n",
        "$ other run\n--- exit status 0 ---\n",
    ],
)
def test_parse_refuses_damage(text):
    with pytest.raises(ValueError):
        form.parse_transcript(text, "1.1", "n")


def test_output_lines():
    assert form.output_lines(b"") == []
    assert form.output_lines(b"a\n\n") == ["a", ""]
    assert form.output_lines(b"a") == ["a", form.NO_NEWLINE]


# --- measured numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "one, other",
    [
        ("    events per second: 31819.33", "    events per second:     0.00"),
        (
            "         min:                                    0.02",
            "         min:                              1234567.89",
        ),
        (
            "        transactions:                        5      (1.00 per sec.)".replace(
                "        t", "    t"
            ),
            "    transactions:                        1234567 (98765.43 per sec.)",
        ),
        (
            "[ 1s ] thds: 2 eps: 0.00 lat (ms,95%): 0.00",
            "[ 1s ] thds: 2 eps: 46595.28 lat (ms,95%): 12.10",
        ),
        (
            "1,1,98.91,0.00,0.00,0.00,0.00,10.09,0.00,0.00",
            "1,1,8.91,0.01,0.20,0.00,0.00,100.09,0.00,0.00",
        ),
        (
            "FATAL:     Calculated value: 0x66337a37    Stored value: 0x0",
            "FATAL:     Calculated value: 0x1    Stored value: 0xff",
        ),
        ("intermediate\t2\t98\t1.0 1.0\t1e-06", "intermediate\t2\t100\t1.1 1.0\t0.020002085014429"),
    ],
)
def test_measured_numbers_are_masked(one, other):
    assert form.mask_line(one) != one
    assert form.mask_line(one) == form.mask_line(other)


@pytest.mark.parametrize(
    "good, bad",
    [
        (
            "    events per second: 31819.33",
            "    events per second:  31819.33",
        ),  # wider than printf would
        ("    events per second:     0.00", "    events per second: 0.00"),  # narrower
        ("    events per second: 31819.33", "    events per second: 31819.3"),  # decimals
        ("    events per second: 31819.33", "    events per second 31819.33"),  # colon
        ("    events per second: 31819.33", "    events per second: nan"),
        ("    events per second: 31819.33", "    events per second: -1.00"),
        (
            "    total time:                          2.0001s",
            "    total time:                          2.001s",
        ),
        (
            "    total time:                          2.0001s",
            "    total time:                         2.0001s",
        ),
        (
            "    total time:                          2.0001s",
            "    total time:                          2.0001",
        ),
        (
            "    total number of events:              100",
            "    total number of events:              100.0",
        ),
        (
            "[ 1s ] thds: 2 eps: 1.00 lat (ms,95%): 0.02",
            "[ 2s ] thds: 2 eps: 1.00 lat (ms,95%): 0.02",
        ),
        (
            "[ 1s ] thds: 2 eps: 1.00 lat (ms,95%): 0.02",
            "[ 1s ] thds: 1 eps: 1.00 lat (ms,95%): 0.02",
        ),
        (
            "[ 1s ] thds: 2 eps: 1.00 lat (ms,95%): 0.02",
            "[ 1s ] thds: 2 eps: 1.00 lat (ms,99%): 0.02",
        ),
        (
            "[ 1s ] thds: 2 eps: 1.00 lat (ms,95%): 0.02",
            "[ 1s ] thds: 2 eps: 1.0 lat (ms,95%): 0.02",
        ),
        (
            "[ 1s ] thds: 2 eps: 1.00 lat (ms,95%): 0.02",
            "[   1s] thds: 2 eps: 1.00 lat (ms,95%): 0.02",
        ),
        (
            "         95th percentile:                        0.02",
            "         99th percentile:                        0.02",
        ),
        (
            "         95th percentile:                        0.02",
            "         95th percentile:                       0.02",
        ),
        (
            "    reconnects:                          0      (0.00 per sec.)",
            "    reconnects:                          0 (0.00 per sec.)",
        ),
        ('    "time":    1,', '    "time": 1,'),
        ('      "other": 0.00', '      "other": 0.00,'),
        (
            "16777216 bytes written in 0.02 seconds (957.63 MiB/sec).",
            "16777217 bytes written in 0.02 seconds (957.63 MiB/sec).",
        ),
        ("Number of threads: 1", "Number of threads: 2"),
        (
            "Initializing random number generator from seed (42).",
            "Initializing random number generator from seed (43).",
        ),
        ("Prime numbers limit: 2000", "Prime numbers limit: 2001"),
    ],
)
def test_other_numbers_and_widths_are_not(good, bad):
    assert differ([good], [bad])


def test_event_limit_makes_the_total_exact():
    line = "    total number of events:              %d"
    assert not differ([line % 100], [line % 101])
    assert differ([line % 100], [line % 101], argv=["--events=100", "cpu", "run"])


def test_build_names():
    assert not differ(
        ["sysbench 1.1.0-3ceba0b (using bundled LuaJIT 2.1.0-beta3)"],
        ["sysbench 1.1.0 (using system LuaJIT 2.1.1700008891)"],
    )
    assert differ(
        ["sysbench 1.1.0 (using system LuaJIT 2.1)"], ["sysbench 1.0.20 (using system LuaJIT 2.1)"]
    )
    assert not differ(
        ["FATAL: PREFIX/share/sysbench/oltp_common.lua:22: x"],
        ["FATAL: /b/lua/oltp_common.lua:3: x"],
    )
    assert differ(["FATAL: L/err.lua:6: x"], ["FATAL: L/err.lua:7: x"])
    assert differ(["FATAL: /a/oltp_common.lua:22: x"], ["FATAL: /a/oltp_insert.lua:22: x"])
    assert not differ(
        ['[string "sysbench.cmdline.lua"]:141: x'], ['[string "sysbench.cmdline.lua"]:9: x']
    )


# --- blocks ---------------------------------------------------------------------------------------

TABLE = [form.HISTOGRAM_HEAD, form.HISTOGRAM_COLUMNS]


def row(value, stars, count):
    return "%12.3f |%s %d" % (value, ("*" * stars).ljust(40), count)


def test_histogram_rows():
    one = TABLE + [row(0.022, 40, 492), row(0.03, 0, 2), " "]
    assert not differ(one, TABLE + [row(0.5, 20, 5), row(1.5, 40, 10), row(2, 4, 1), " "])
    assert differ(one, TABLE + [" "])  # no rows
    assert differ(one, TABLE + [row(0.022, 39, 492), " "])  # bar too short
    assert differ(one, TABLE + [row(0.5, 40, 5), row(0.4, 40, 5), " "])  # not ascending
    assert differ(one, TABLE + [row(0.5, 40, 5).replace("*|", "* |"), row(0.5, 0, 0), " "])
    assert differ(one, TABLE + [row(0.022, 40, 492).replace("   0.022", "0.022"), " "])
    assert differ(one, one[:-1] + [""])
    assert differ([row(1, 40, 1)], [row(2, 40, 1)])  # a script's own table


def test_options():
    one = ["cpu options:", "  --a=N     <desc> [1]", "  --bcd=[L] <desc>", ""]
    assert not differ(
        one, ["cpu options:", "  --a=N     how many {x,y} [1]", "  --bcd=[L] some", ""]
    )
    assert differ(one, ["cpu options:", "  --a=N     <desc> [2]", "  --bcd=[L] <desc>", ""])
    assert differ(one, ["cpu options:", "  --a=N     <desc>", "  --bcd=[L] <desc>", ""])
    assert differ(one, ["cpu options:", "  --a=N    <desc> [1]", "  --bcd=[L] <desc>", ""])
    assert differ(one, ["cpu options:", "  --a=N      <desc> [1]", "  --bcd=[L]  <desc>", ""])
    assert differ(one, ["cpu options:", "  --bcd=[L] <desc>", "  --a=N     <desc> [1]", ""])


INTERVAL_ARGV = ["--time=3", "--report-interval=1", "cpu", "run"]


def lines_at(*times):
    return ["[ %ds ] thds: 1 eps: 5.00 lat (ms,95%%): 0.02" % t for t in times]


def test_last_interval_may_be_missing():
    assert not differ(lines_at(1, 2), lines_at(1, 2, 3), argv=INTERVAL_ARGV)
    assert differ(lines_at(1, 2), lines_at(1, 3), argv=INTERVAL_ARGV)
    assert differ(lines_at(1, 2), lines_at(1, 2, 2), argv=INTERVAL_ARGV)
    assert differ(lines_at(1, 2), lines_at(2, 1), argv=INTERVAL_ARGV)
    ctx = form.Context(INTERVAL_ARGV)
    assert form.last_interval_reported(lines_at(1, 2, 3), ctx) is True
    assert form.last_interval_reported(lines_at(1, 2), ctx) is False
    assert form.last_interval_reported(lines_at(1, 2), form.Context(["cpu", "run"])) is None
    hook = "intermediate\tx"
    assert not differ([hook] * 2, [hook] * 3, argv=INTERVAL_ARGV)
    assert differ([hook] * 2, [hook], argv=INTERVAL_ARGV)
    assert form.last_interval_reported([hook] * 2, ctx) is False


def test_rate_lines_belong_to_the_interval():
    queue = "[ %ds ] queue length: 0 concurrency: 1"
    both = [line for t in (1, 2, 3) for line in (lines_at(t)[0], queue % t)]
    assert not differ(both[:4], both, argv=INTERVAL_ARGV)
    assert differ(both[:4], both[:3], argv=INTERVAL_ARGV)
    assert differ(both[:4], [both[1], both[0]] + both[2:4], argv=INTERVAL_ARGV)


def json_report(*times):
    objects = [["  {", '    "time": %4d,' % t, '    "tps": 9.00,', "  }"] for t in times]
    for one in objects[:-1]:
        one[-1] = "  },"
    return ["["] + [line for one in objects for line in one] + ["]"]


def test_json_objects_are_interval_reports():
    assert not differ(json_report(1, 2), json_report(1, 2, 3), argv=INTERVAL_ARGV)
    assert differ(json_report(1, 2), json_report(1), argv=INTERVAL_ARGV)
    broken = json_report(1, 2)
    broken[-2] = "  },"
    assert differ(json_report(1, 2), broken, argv=INTERVAL_ARGV)
    broken = json_report(1, 2)
    broken[broken.index("  },")] = "  }"
    assert differ(json_report(1, 2), broken, argv=INTERVAL_ARGV)


def test_checkpoints_and_intervals_come_from_two_threads():
    argv = INTERVAL_ARGV + ["--report-checkpoints=2"]
    point = ["[ 2s ] Checkpoint report:", "CPU speed:"]
    assert not differ(
        lines_at(1) + point + lines_at(2),
        lines_at(1) + point[:1] + lines_at(2) + point[1:],
        argv=argv,
    )
    assert not differ(
        lines_at(1) + point + lines_at(2), lines_at(1) + lines_at(2) + point, argv=argv
    )
    assert differ(lines_at(1) + point + lines_at(2), lines_at(1) + point, argv=argv)
    assert differ(lines_at(1) + point, lines_at(1) + point[1:], argv=argv)


def test_a_checkpoint_may_be_late_where_others_are_not():
    def at(*times):
        return form.Form([f"[ {t}s ] Checkpoint report:" for t in times], [], 0)

    assert form.on_time(at(1, 2, 3), at(1, 3, 3)) == at(1, 2, 3)
    assert form.on_time(at(2), at(3)) == form.on_time(at(2), at(4)) == at(2)
    assert form.on_time(at(1, 2), at(1, 4)) == form.on_time(at(1, 2), at(1, 32)) == at(1, 2)
    assert form.on_time(at(1, 2), at(1, 33)) == at(1, 33) and form.on_time(at(2), at(33)) == at(33)
    for wrong in (at(2, 3, 4), at(1, 4, 3), at(1, 1, 3), at(1, 2), at(0, 2, 3)):
        assert form.on_time(at(1, 2, 3), wrong) == wrong


def test_a_late_report_has_the_time_it_was_due():
    def at(*times):
        return [f"[{t:4}s] reads: 1.00 MB/s" for t in times] + ["Operations performed:  1 reads"]

    def two(*times):
        what = "thds: 1 eps: 1.00 lat (ms,95%): 1.00", "queue length: 0 concurrency: 0"
        return [f"[ {t}s ] {text}" for t in times for text in what]

    def seconds(n, every=1):
        return form.Context(["fileio", f"--time={n}", f"--report-interval={every}", "run"])

    for lines in (at, two):
        assert form.lines_on_schedule(lines(2, 2), seconds(2)) == lines(1, 2)
        assert form.lines_on_schedule(lines(2), seconds(2)) == lines(1, 2)
        assert form.lines_on_schedule(lines(1, 3), seconds(2)) == lines(1, 2)
        assert form.lines_on_schedule(lines(1, 3, 3), seconds(3)) == lines(1, 2, 3)
        assert form.lines_on_schedule(lines(1, 3, 3, 4), seconds(4)) == lines(1, 2, 3, 4)
        assert form.lines_on_schedule(lines(3), seconds(4)) == lines(1, 2, 3)
        assert form.lines_on_schedule(lines(3, 3, 3), seconds(3)) == lines(1, 2, 3)
        assert form.lines_on_schedule(lines(3, 5, 6), seconds(6, 2)) == lines(2, 4, 6)
        assert form.lines_on_schedule(lines(*range(1, 8), 10, 10), seconds(10)) == lines(*range(1, 11))
        for kept in ((1, 2, 3), (1, 2), (1, 1), (0, 1, 2), (1, 2, 3, 3), ()):
            assert form.lines_on_schedule(lines(*kept), seconds(3)) == lines(*kept)
    assert form.lines_on_schedule(at(1, 3), form.Context(["fileio", "run"])) == at(1, 3)


def test_a_late_report_of_other_kinds():
    ctx = form.Context(["cpu", "--time=3", "--report-interval=1", "run"])

    def csv(*times):
        return [f"{t},1" + ",1.00" * 8 for t in times]

    def json(*times):
        ends = ["  },"] * (len(times) - 1) + ["  }"]
        return [
            line
            for t, end in zip(times, ends)
            for line in ("  {", f'    "time": {t:4},', '    "tps": 1.00', end)
        ]

    for lines in (csv, json):
        assert form.lines_on_schedule(lines(2, 2, 3), ctx) == lines(1, 2, 3)
        assert form.lines_on_schedule(lines(3, 3), ctx) == lines(1, 2, 3)
        assert form.lines_on_schedule(lines(3), ctx) == lines(1, 2, 3)
    hook = ["intermediate\t1\t2\t3.0 4.0\t5"]
    assert form.lines_on_schedule(hook * 2, ctx) == hook * 3
    assert form.lines_on_schedule(hook * 4, ctx) == hook * 4
    assert form.lines_on_schedule(["no report"], ctx) == ["no report"]


@pytest.mark.parametrize("version", sorted(runner.DIALECT))
def test_recorded_reports_were_in_time(version):
    late = []
    for path in (runner.GOLDEN / version).glob("*.txt"):
        transcript = runner.load(version, path.stem)
        kept = form.lines_on_schedule(transcript.stdout, form.context(transcript))
        if kept != transcript.stdout:
            late.append(path.stem)
    assert not late


def test_the_event_at_the_end_of_a_warm_up_may_be_missing():
    transcript = runner.load("1.1", "cpu-warmup-events")

    def with_total(n):
        return [re.sub(r"(total number of events: +)\d+", rf"\g<1>{n}", line) for line in transcript.stdout]

    assert with_total(1001) == transcript.stdout
    assert not compare(transcript, with_total(1000))
    assert compare(transcript, with_total(999)) and compare(transcript, with_total(1002))


def test_threads_announce_themselves_in_any_order():
    head = [form.INITIALIZING, ""]
    debug = [
        "DEBUG: Worker thread (#0) started",
        "DEBUG: Worker thread (#0) initialized",
        "DEBUG: Worker thread (#1) started",
    ]
    assert not differ(head + debug + [form.STARTED], head + debug[::-1] + [form.STARTED])
    assert not differ(
        head + debug,
        ["DEBUG: Reporting thread started"][:0] + head + [debug[2], debug[0], debug[1]],
    )
    assert differ(head + debug, head + debug[1:])
    assert differ(head + debug + [form.STARTED], head + debug[:2] + [form.STARTED] + debug[2:])
    assert differ(head + debug, head + debug[:2] + ["DEBUG: Worker thread (#2) started"])


def test_scrambled_prints_keep_their_characters():
    name = "lua-phases-run"
    start, end = [form.INITIALIZING, "", "top\t0", "top\t1", form.STARTED], ["", "Throughput:"]
    assert not differ(
        start + ["event\t0", "event\t1"] + end, start + ["eventevent\t\t0", "0"] + end, name=name
    )
    assert differ(start + ["event\t0", "event\t1"] + end, start + ["event\t0"] + end, name=name)
    assert differ(start + ["event\t0"] + end, start + ["evens\t0"] + end, name=name)
    assert differ(
        start + end, [line.replace("top\t1", "top\t2") for line in start] + end, name=name
    )


# --- whole transcripts ----------------------------------------------------------------------------


def compare(transcript, stdout, stderr=None, status=None):
    ctx = form.context(transcript)
    output = form.Output(
        stdout,
        transcript.stderr if stderr is None else stderr,
        transcript.status if status is None else status,
    )
    return form.differences(form.transcript_form(transcript), form.reduce_output(output, ctx))


def vague(transcript):
    """The indices of lines whose numbers are data: rows of a histogram, what a script's hook prints."""
    lines = transcript.stdout
    hooks = {i for i, line in enumerate(lines) if form.HOOK.match(line)}
    return hooks | {i for i, line in enumerate(lines) if form.HISTOGRAM_ROW.fullmatch(line)}


def droppable(transcript):
    """The indices of lines whose loss may go unnoticed: rows of a histogram, the last interval."""
    ctx = form.context(transcript)
    free = {
        i
        for i, line in enumerate(transcript.stdout)
        if form.HISTOGRAM_ROW.fullmatch(line) and form.HISTOGRAM_HEAD in transcript.stdout
    }
    if ctx.interval and ctx.time:
        hooks = [i for i, line in enumerate(transcript.stdout) if form.HOOK.match(line)]
        free.update(hooks if len(hooks) * ctx.interval >= ctx.time else [])
        at, last = 0, 0
        for _, unit in form.interval_units(transcript.stdout):
            size = len(unit) if unit else 1
            if unit and (form.unit_time(unit) or 0) >= ctx.time:
                free.update(range(at, at + size))
                last = at
            at += size
        if last and transcript.stdout[last] == "  {":
            free.add(last - 1)
    return free


@pytest.mark.parametrize("version, name", DAMAGED, ids=lambda part: part)
def test_damage_to_a_golden_transcript_is_found(version, name):
    """Loses, doubles and alters lines of stored output one at a time: each must be reported."""
    transcript = runner.load(version, name)
    lines = transcript.stdout
    assert not compare(transcript, lines)
    assert compare(transcript, lines, status=transcript.status + 1)
    assert compare(transcript, lines, stderr=transcript.stderr + ["x"])
    assert compare(transcript, lines + ["x"])
    assert compare(transcript, lines + [form.NO_NEWLINE])
    dice = random.Random(version + name)
    free = droppable(transcript)
    for i in dice.sample(range(len(lines)), min(len(lines), 12)):
        if i not in free:
            assert compare(
                transcript, lines[:i] + lines[i + 1 :]
            ), f"loss of line {i}: {lines[i]!r}"
            assert compare(
                transcript, lines[: i + 1] + lines[i:]
            ), f"doubled line {i}: {lines[i]!r}"
        for damaged in damages(lines[i]):
            if i not in free or i not in vague(transcript):
                assert compare(
                    transcript, lines[:i] + [damaged] + lines[i + 1 :]
                ), f"{lines[i]!r} as {damaged!r}"
    for i, line in enumerate(transcript.stderr):
        assert compare(
            transcript, lines, stderr=transcript.stderr[:i] + transcript.stderr[i + 1 :]
        ), line


def damages(line):
    """Small changes to a line that never come from measuring something else."""
    yield line + " "
    yield " " + line
    if ":" in line:
        yield line.replace(":", "", 1)
    if "," in line:
        yield line.replace(",", ";", 1)
    number = re.search(r"(?<![\w.])\d+\.\d+(?![\w.])", line)
    if number and "<desc>" not in line and "abc-" not in line:
        yield line[: number.end()] + "0" + line[number.end() :]
    letter = re.search(r"[a-z]{3}", line)
    if letter and "<desc>" not in line and not re.search(r"LuaJIT|abc-\d\d-|0x", line):
        yield line[: letter.start()] + line[letter.start()].upper() + line[letter.start() + 1 :]
