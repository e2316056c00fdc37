#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Direct 4 KiB random requests against fio on the same files: IOPS, processor time, latency.

Short runs alternate; prints the medians of the ratios of the pairs. Ours is charged with the
processor time of the whole process, fio only with what it reports of its job. With PERF_CONTROL=1
fio takes the place of ours: what its rows show beside 1 is the device's doing. Environment: see
README.md.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

BENCH = os.path.realpath(os.environ.get("BENCH_BIN", "bin/bench"))
FIO = os.environ.get("FIO_BIN", "/usr/bin/fio")
CONTROL = os.environ.get("PERF_CONTROL", "0") == "1"
PAIRS = int(os.environ.get("PERF_PAIRS", "20"))
SECONDS = int(os.environ.get("PERF_SECONDS", "1"))
FILES = int(os.environ.get("PERF_FILES", "4"))
TOTAL = int(os.environ.get("PERF_MIB", "1024")) << 20
# Which rows: words that must all be in the label, "io_uring rndrd 32".
ROWS = os.environ.get("PERF_ROWS", "").split()

ENGINES = {
    "async": ["--ioengine=libaio"],
    "io_uring": ["--ioengine=io_uring", "--fixedbufs=1", "--registerfiles=1"],
}
MODES = {"rndrd": "randread", "rndwr": "randwrite", "rndrw": "randrw"}
DEPTHS = (1, 32, 128)
IOPS, CPU, LATENCY = 0.98, 1.0, 0.03


def run(argv):
    """(output, processor seconds of the whole process)."""
    with tempfile.TemporaryFile("w+") as out, open(os.devnull, "w", encoding="ascii") as null:
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, null.fileno(), 2)]
        env = {**os.environ, "BENCH_COMPAT": "1.0", "LC_ALL": "C"}
        pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
        _, status, used = os.wait4(pid, 0)
        out.seek(0)
        text = out.read()
    if status != 0:
        sys.exit(f"{' '.join(argv)} failed:\n{text}")
    return text, used.ru_utime + used.ru_stime


def files_of(folder):
    return [f"--file-num={FILES}", f"--file-total-size={TOTAL}", f"--file-dir={folder}"]


def ours(folder, engine, mode, depth, direct):
    """(requests per second, processor microseconds of a request, mean requests in flight)."""
    text, cpu = run([BENCH, "fileio", *files_of(folder), f"--file-test-mode={mode}",
                     f"--file-io-mode={engine}", f"--file-async-backlog={depth}",
                     "--file-block-size=4096", "--file-rw-ratio=1", "--file-fsync-freq=0",
                     "--file-fsync-end=off", f"--time={SECONDS}",
                     *(["--file-extra-flags=direct"] if direct else []), "run"])

    def number(name):
        return float(re.search(rf"{name}: +([\d.]+)", text).group(1))

    elapsed, events = number("total time"), number("total number of events")
    return events / elapsed, cpu / events * 1e6, number("sum") / 1e3 / elapsed


def fio(folder, engine, mode, depth, direct):
    """The same of fio."""
    names = ":".join(f"{folder}/test_file.{i}" for i in range(FILES))
    text, _ = run([FIO, "--name=job", f"--filename={names}", f"--rw={MODES[mode]}", "--bs=4k",
                   f"--direct={int(direct)}", f"--iodepth={depth}", f"--size={TOTAL}",
                   "--time_based", f"--runtime={SECONDS}", "--norandommap=1", "--randrepeat=0",
                   "--file_service_type=random", "--invalidate=0", "--zero_buffers=1",
                   "--scramble_buffers=0", "--output-format=json",
                   *ENGINES[engine]])
    job = json.loads(text[text.index("{"):])["jobs"][0]
    count = job["read"]["total_ios"] + job["write"]["total_ios"]
    elapsed = job["job_runtime"] / 1e3
    cpu = (job["usr_cpu"] + job["sys_cpu"]) / 100 * elapsed
    waited = sum(job[k]["lat_ns"]["mean"] * job[k]["total_ios"] for k in ("read", "write")) / 1e9
    return count / elapsed, cpu / count * 1e6, waited / elapsed


def one_pair(first, folder, case):
    """(what the first program did, what fio did); who goes first changes."""
    order = ("first", "second") if first else ("second", "first")
    program = {"first": fio if CONTROL else ours, "second": fio}
    got = {who: program[who](folder, *case) for who in order}
    return got["first"], got["second"]


def middle_half(ratios):
    return f"({ratios[len(ratios) // 4]:.3f}..{ratios[(3 * len(ratios) - 1) // 4]:.3f})"


def row(label, folder, case):
    pairs = [one_pair(i % 2 == 0, folder, case) for i in range(PAIRS)]

    def median(who, what):
        return statistics.median(p[who][what] for p in pairs)

    def ratio(what):
        return sorted(a[what] / b[what] for a, b in pairs)

    iops, cpu = ratio(0), ratio(1)
    depth = case[2]
    held = median(0, 2) / depth
    good = (statistics.median(iops) >= IOPS and statistics.median(cpu) <= CPU
            and abs(held - 1) <= LATENCY)
    print(f"{label:<22} {median(0, 0):8.0f} {median(1, 0):8.0f} {statistics.median(iops):6.3f} "
          f"{middle_half(iops)}  {median(0, 1):6.2f} {median(1, 1):6.2f} "
          f"{statistics.median(cpu):6.3f} {middle_half(cpu)}  {held:6.4f} "
          f"{'PASS' if good else 'FAIL'}", flush=True)
    return good


def cases():
    for engine in ENGINES:
        for mode in MODES:
            for depth in DEPTHS:
                label = f"{engine} {mode} {depth}"
                if all(word in label.split() for word in ROWS):
                    yield label, (engine, mode, depth, os.environ.get("PERF_DIRECT", "1") == "1")


def main():
    folder = tempfile.mkdtemp(prefix="bench-perf-", dir=os.environ.get("PERF_FOLDER", "."))
    folder = os.path.realpath(folder)
    try:
        run([BENCH, "fileio", *files_of(folder), "prepare"])
        print(f"# fileio against {subprocess.check_output([FIO, '--version'], text=True).strip()}: "
              f"{FILES} files, {TOTAL >> 20} MiB, medians of {PAIRS} pairs of {SECONDS} s")
        print("# wanted: requests per second >= 0.98, processor time of one <= 1.0, "
              "mean latency x IOPS / depth 0.97..1.03")
        print("# in brackets: the middle half of the pairs" + CONTROL * "; CONTROL: fio for both")
        print(f"{'row':<22} {'IOPS':>8} {'fio':>8} {'ratio':>6} {'':16} {'us':>6} {'fio':>6} "
              f"{'ratio':>6} {'':16}  {'queue':>6}", flush=True)
        good = [row(label, folder, case) for label, case in cases()]
    finally:
        shutil.rmtree(folder)
    sys.exit(0 if good and all(good) else 1)


if __name__ == "__main__":
    main()
