# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the same command lines with sysbench 1.0.20 itself and with ours as 1.0, and compares the form
of what they print, line by line, and their exit status.

BENCH_REFERENCE_BIN names the reference, else /usr/bin/sysbench, which ./check installs."""

import os
import pathlib
import shlex
import subprocess
import tempfile

import pytest

import deviations
import form
import gate
import runner

REFERENCE = os.environ.get("BENCH_REFERENCE_BIN", "/usr/bin/sysbench")
WORKLOADS = (
    "oltp_read_write oltp_read_only oltp_write_only oltp_point_select oltp_insert oltp_delete "
    "oltp_update_index oltp_update_non_index select_random_points select_random_ranges"
).split()
FILES = "--file-num=2 --file-total-size=4M"
FEW = "--events=20 --time=60"
# In this order those of two seconds are in the gate with fileio, which needs the processor least.
COMMON = [
    "--time=1",
    "--time=1 --threads=2",
    "--time=1 --threads=2 --rate=300",
    "--time=2 --report-interval=1",
    f"{FEW} --histogram",
    f"{FEW} --percentile=99",
    f"{FEW} --verbosity=2",
    "--time=2 --report-interval=1 --percentile=0",
    f"{FEW} --rand-seed=7 --validate",
    f"{FEW} --verbosity=4",
    f"{FEW} --forced-shutdown=60",
    "--time=2 --report-checkpoints=1",
    "--num-threads=2 --max-requests=10 --max-time=60",
    FEW,
]
LIGHT = {
    "cpu": "cpu --cpu-max-prime=500",
    "memory": "memory --memory-block-size=64K",
    "threads": "threads --thread-yields=10",
    "fileio": f"fileio {FILES} --file-test-mode=rndrw",
}
MODES = "seqwr seqrewr seqrd rndrd rndwr rndrw".split()


def repeats():
    """Lines of a matrix.  The gate runs those of its diagonal, as gate.diagonal() makes them."""
    for i, options in enumerate(COMMON):
        for j, test in enumerate(LIGHT.values()):
            if test.startswith("memory"):  # its amount of work is another option's; ours says so
                if "requests" in options:
                    continue
                options = options.replace("--events=20", "--memory-total-size=1M")
            if test.startswith("fileio"):
                options = options.replace(" --validate", "")  # these files have no checksums
            yield f"{test} {options} run", i % len(LIGHT) == j
    for i, oper in enumerate(("read", "write", "none")):
        for j, mode in enumerate(("seq", "rnd")):
            for k, scope in enumerate(("global", "local")):
                yield (
                    f"memory --memory-total-size=4M --memory-oper={oper} --memory-access-mode={mode} "
                    f"--memory-scope={scope} --threads=2 run"
                ), i % 2 == j == k
    for i, mode in enumerate(MODES):
        for j, io in enumerate(("sync", "async", "mmap")):
            yield (
                f"fileio {FILES} --file-test-mode={mode} --file-io-mode={io} --events=300 --time=60 run",
                i % 3 == j,
            )


def built_in():
    for options in ("", "--threads=3", "--percentile=0", "--histogram", "--verbosity=4"):
        yield f"mutex --mutex-locks=10 --mutex-loops=10 {options} run"
    for more in (
        "--file-fsync-all",
        "--file-fsync-freq=0",
        "--file-fsync-end=off",
        "--file-fsync-mode=fdatasync",
        "--file-extra-flags=dsync",
        "--file-rw-ratio=4",
        "--file-block-size=4096",
        "--threads=4",
        "--file-io-mode=",
        "--file-async-backlog=0",
        "--file-extra-flags=",
    ):
        yield f"fileio {FILES} --file-test-mode=rndrw --events=200 --time=60 {more} run"
    yield f"fileio {FILES} --file-test-mode=seqrewr --file-merged-requests=4 --events=50 --time=60 run"
    yield "cpu --cpu-max-prime=500 --time=1 --report-checkpoints=0 run"
    yield "cpu --cpu-max-prime=500 --time=2 --report-checkpoints=1,0,1 run"
    yield "threads --thread-yields=0 --events=3 --time=60 run"
    for nothing in ("--num-threads=0", "--num-threads= --threads=2"):
        yield f"cpu --cpu-max-prime=500 --events=3 --time=60 {nothing} run"
    yield f"fileio {FILES} prepare"
    yield f"fileio {FILES} --file-num=3 --file-total-size=6M prepare"
    yield f"fileio {FILES} cleanup"


# Options as scripts with unset variables give them: set to nothing.  Where 1.0.20 crashes or never
# ends there is no row.
GIVEN_NOTHING = {
    "cpu --cpu-max-prime=300 --events=3": (
        "threads time events rate report-interval report-checkpoints percentile histogram debug "
        "validate verbosity rand-seed thread-stack-size db-debug db-driver db-ps-mode mysql-host "
        "mysql-port mysql-socket mysql-user mysql-password mysql-db mysql-ignore-errors pgsql-host "
        "pgsql-port pgsql-db num-threads max-time max-requests tx-rate cpu-max-prime"
    ),
    f"fileio {FILES} --file-test-mode=rndrw --events=20": (
        "file-num file-block-size file-total-size file-test-mode file-io-mode file-async-backlog "
        "file-extra-flags file-fsync-freq file-fsync-all file-fsync-end file-merged-requests "
        "file-rw-ratio"
    ),
    "threads --thread-locks=2 --events=3": "thread-yields",
    "mutex --mutex-locks=10": "mutex-loops",
}
# Without a number of events the time alone ends a run.
ENDED_BY_TIME = ("events", "max-requests")


def given_nothing():
    for line, options in GIVEN_NOTHING.items():
        for option in options.split():
            time = "--time=1" if option in ENDED_BY_TIME else "--time=60"
            yield f"{line} {time} --{option}= run"


HELP = ["oltp_common help", "--help", "--version", *(f"{t} help" for t in [*LIGHT, "mutex", *WORKLOADS])]

ERRORS = """
cpu run extra
-threads=2 cpu run
--test=cpu --events=3 run
cpu --threads=0 run
cpu --threads= run
cpu --threads=abc run
cpu --threads=1e3 run
cpu --threads=0x10 run
cpu --threads=99999999999 run
cpu --time=5s run
cpu --time=1e0 run
cpu --events=2K run
cpu --percentile=99.9 run
cpu --percentile=101 run
cpu --percentile=-1 run
cpu --percentile=0 --histogram run
cpu --verbosity=abc run
cpu --debug=maybe run
cpu --debug=ON run
cpu --debug= run
cpu --forced-shutdown=abc --time=3 run
cpu --forced-shutdown=1x --time=3 run
cpu --thread-stack-size=0 run
cpu --rand-type=nosuch run
cpu --report-checkpoints=1,abc run
cpu --report-checkpoints=1,-1 run
cpu --report-checkpoints=1.5 run
cpu --percentile=50,95 run
cpu --cpu-max-prime=0 run
cpu --cpu-max-prime=-5 run
cpu --cpu-max-prime=abc run
cpu --nosuch run
cpu --nosuch=5 run
cpu --file-num=4 run
--CPU-max-prime=5 cpu run
cpu
fileio
cpu prepare
cpu cleanup
memory cleanup
cpu nosuch
nosuch run
nosuch.lua run
./nosuch run
memory --memory-block-size=0 run
memory --memory-block-size=10 run
memory --memory-block-size=3K run
memory --memory-block-size=0x10 run
memory --memory-scope=foo run
memory --memory-oper=foo run
memory --memory-access-mode=foo run
fileio run
fileio --file-test-mode=foo run
fileio --file-test-mode= run
fileio --file-test-mode run
cpu --config-file= --events=2 run
cpu --test --events=2 run
fileio --file-num=0 prepare
fileio --file-total-size=0 prepare
fileio --file-block-size=0 prepare
fileio --file-io-mode=foo prepare
fileio --file-test-mode=rndrd --file-io-mode=async --file-async-backlog=0 run
fileio --file-extra-flags=foo prepare
fileio --file-fsync-mode=foo prepare
fileio --file-fsync-freq=-1 prepare
fileio --file-merged-requests=-1 prepare
fileio --file-rw-ratio=-1 prepare
fileio --file-num=2 --file-total-size=1G --file-test-mode=rndrd run
oltp_read_write nosuch
oltp_read_write --nosuch run
oltp_read_write --db-driver=mysql --mysql-host= run
oltp_read_write --db-driver=mysql --mysql-socket=/nonexistent.sock run
oltp_read_write --db-driver=mysql --db-ps-mode=foo --mysql-socket=/nonexistent.sock run
oltp_read_write --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=1 run
oltp_common run
"""


def lines():
    others = [*built_in(), *given_nothing(), *HELP, *filter(None, ERRORS.split("\n"))]
    seen = {}
    for line, in_gate in [*repeats(), *((line, True) for line in others)]:
        seen[" ".join(line.split())] = in_gate
    return [line if in_gate else gate.slow(line) for line, in_gate in seen.items()]


def execute(binary, version, argv, folder):
    env = dict(runner.INHERITED, LC_ALL="C")
    if version:
        env["BENCH_COMPAT"] = version
    return runner.execute([binary, *argv], folder, env)


def output_of(binary, version, line):
    """In a folder of its own."""
    argv = shlex.split(line)
    with tempfile.TemporaryDirectory(prefix="bench-differential-") as name:
        folder = pathlib.Path(name)
        if "fileio" in argv and "run" in argv and "--file-total-size=1G" not in argv:
            execute(REFERENCE, None, ["fileio", *FILES.split(), "prepare"], folder)
        return execute(binary, version, argv, folder)


def pair(line):
    """The outputs of the reference and of ours."""
    return output_of(REFERENCE, None, line), output_of(runner.binary(), "1.0", line)


def own(lines_of):
    """An empty line is no message, so that it is neither swallowed nor counted."""
    return ["" if line.startswith("(last message repeated") else line for line in lines_of]


def strictly_wrong(argv, ctx, outputs):
    reference, ours = (form.reduce_output(output, ctx) for output in outputs)
    if ctx.checkpoints:
        reference = reference._replace(stdout=own(reference.stdout))
    if "--help" in argv:
        reference = deviations.expected_listing(reference, ours)
    return form.differences(reference, form.on_time(reference, ours))


def wrong_in(line, outputs):
    argv = shlex.split(line)
    ctx = form.Context(argv, "", "1.0.20")
    return form.unless_late(lambda of: strictly_wrong(argv, ctx, [of(o) for o in outputs]), ctx)


@pytest.mark.parametrize("line", lines())
def test_same(line):
    reference, ours = pair(line)
    wrong = wrong_in(line, (reference, ours))
    # The threads of the reference print at the same time; ours have one try.
    for _ in range(3):
        if not wrong:
            break
        wrong = wrong_in(line, (output_of(REFERENCE, None, line), ours))
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


def test_the_reference_is_the_one():
    done = subprocess.run([REFERENCE, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "sysbench 1.0.20"
