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
import sys
import tempfile

import lib

BENCH = lib.bench()
FIO = lib.program("FIO_BIN", "/usr/bin/fio")
CONTROL = lib.setting("PERF_CONTROL", 0) == 1
DIRECT = lib.setting("PERF_DIRECT", 1) == 1
PAIRS = lib.setting("PERF_PAIRS", 20)
SECONDS = lib.setting("PERF_SECONDS", 1)
FILES = lib.setting("PERF_FILES", 4)
TOTAL = lib.setting("PERF_MIB", 1024) << 20
# Which rows: words that must all be in the label, "io_uring rndrd 32".
ROWS = os.environ.get("PERF_ROWS", "").split()

ENGINES = {
    "async": ["--ioengine=libaio"],
    "io_uring": ["--ioengine=io_uring", "--fixedbufs=1", "--registerfiles=1"],
}
MODES = {"rndrd": "randread", "rndwr": "randwrite", "rndrw": "randrw"}
DEPTHS = (1, 32, 128)
IOPS, CPU, LATENCY = 0.98, 1.0, 0.03


def files_of(folder):
    return [f"--file-num={FILES}", f"--file-total-size={TOTAL}", f"--file-dir={folder}"]


def ours(folder, engine, mode, depth, direct):
    """(requests per second, processor microseconds of a request, mean requests in flight)."""
    done = lib.run([BENCH, "fileio", *files_of(folder), f"--file-test-mode={mode}",
                    f"--file-io-mode={engine}", f"--file-async-backlog={depth}",
                    "--file-block-size=4096", "--file-rw-ratio=1", "--file-fsync-freq=0",
                    "--file-fsync-end=off", f"--time={SECONDS}",
                    *(["--file-extra-flags=direct"] if direct else []), "run"], BENCH_COMPAT="1.0")

    def number(name):
        return float(re.search(rf"{name}: +([\d.]+)", done.text).group(1))

    elapsed, events = number("total time"), number("total number of events")
    cpu = done.user + done.system
    return events / elapsed, cpu / events * 1e6, number("sum") / 1e3 / elapsed


def fio(folder, engine, mode, depth, direct):
    """The same of fio."""
    names = ":".join(f"{folder}/test_file.{i}" for i in range(FILES))
    done = lib.run([FIO, "--name=job", f"--filename={names}", f"--rw={MODES[mode]}", "--bs=4k",
                    f"--direct={int(direct)}", f"--iodepth={depth}", f"--size={TOTAL}",
                    "--time_based", f"--runtime={SECONDS}", "--norandommap=1", "--randrepeat=0",
                    "--file_service_type=random", "--invalidate=0", "--zero_buffers=1",
                    "--scramble_buffers=0", "--output-format=json", *ENGINES[engine]])
    job = json.loads(done.text[done.text.index("{"):])["jobs"][0]
    count = job["read"]["total_ios"] + job["write"]["total_ios"]
    elapsed = job["job_runtime"] / 1e3
    cpu = (job["usr_cpu"] + job["sys_cpu"]) / 100 * elapsed
    waited = sum(job[k]["lat_ns"]["mean"] * job[k]["total_ios"] for k in ("read", "write")) / 1e9
    return count / elapsed, cpu / count * 1e6, waited / elapsed


def middle_half(ratios):
    return f"({ratios[len(ratios) // 4]:.3f}..{ratios[(3 * len(ratios) - 1) // 4]:.3f})"


def row(rows, label, folder, case):
    pairs = lib.alternate(PAIRS, lambda: (fio if CONTROL else ours)(folder, *case),
                          lambda: fio(folder, *case))

    def of(what):
        """Of that figure: both medians, the median of the ratios, all ratios."""
        both = [(a[what], b[what]) for a, b in pairs]
        return *lib.middle(both), *lib.ratios(both)

    our_iops, fio_iops, iops, all_iops = of(0)
    our_cpu, fio_cpu, cpu, all_cpu = of(1)
    held = statistics.median(a[2] for a, _ in pairs) / case[2]
    rows.add(label, f"{label:<22} {our_iops:8.0f} {fio_iops:8.0f} {iops:6.3f} {middle_half(all_iops)}  "
             f"{our_cpu:6.2f} {fio_cpu:6.2f} {cpu:6.3f} {middle_half(all_cpu)}  {held:6.4f}",
             iops >= IOPS and cpu <= CPU and abs(held - 1) <= LATENCY)


def cases():
    for engine in ENGINES:
        for mode in MODES:
            for depth in DEPTHS:
                label = f"{engine} {mode} {depth}"
                if all(word in label.split() for word in ROWS):
                    yield label, (engine, mode, depth, DIRECT)


def main():
    folder = tempfile.mkdtemp(prefix="bench-perf-", dir=os.environ.get("PERF_FOLDER", "."))
    folder = os.path.realpath(folder)
    version = lib.run([FIO, "--version"]).text.strip()
    try:
        lib.run([BENCH, "fileio", *files_of(folder), "prepare"])
        rows = lib.Rows(
            f"fileio against {version}: {FILES} files, {TOTAL >> 20} MiB, medians of {PAIRS} pairs of "
            f"{SECONDS} s" + CONTROL * "; CONTROL: fio for both",
            "# wanted: requests per second >= 0.98, processor time of one <= 1.0, "
            "mean latency x IOPS / depth 0.97..1.03\n"
            "# in brackets: the middle half of the pairs\n"
            f"{'row':<22} {'IOPS':>8} {'fio':>8} {'ratio':>6} {'':16} {'us':>6} {'fio':>6} "
            f"{'ratio':>6} {'':16}  {'queue':>6}")
        for label, case in cases():
            row(rows, label, folder, case)
    finally:
        shutil.rmtree(folder)
    sys.exit(rows.status())


if __name__ == "__main__":
    main()
