# SPDX-License-Identifier: GPL-2.0-or-later
"""The memory test goes through exactly the total, shares it out to the block, and ignores --events."""
import csv
import errno
import pathlib
import re
import signal
import subprocess
import time

import pytest

import bench
from files import build_faults, with_fault
from gate import diagonal, slow


def figures(out):
    operations = int(re.search(r"Total operations: (\d+) ", out).group(1))
    moved = re.search(r"([\d.]+) MiB transferred", out)
    return operations, float(moved.group(1)) if moved else None


@pytest.mark.parametrize("size, oper", diagonal(
    [(1, "1K", "1M", 1024), (3, "4K", "1M", 256), (16, "64K", "512K", 8), (2, "8", "800", 100)], ["read", "write"]))
def test_total_is_exact(size, oper):
    threads, block, total, blocks = size
    done = bench.run("memory", f"--threads={threads}", f"--memory-block-size={block}",
                     f"--memory-total-size={total}", f"--memory-oper={oper}", "--time=0", "run")
    assert done.status == 0, done.err
    size = int(block[:-1]) * 1024 if block.endswith("K") else int(block)
    operations, moved = figures(done.out)
    assert operations == blocks
    assert moved == pytest.approx(blocks * size / 1024**2, abs=0.006)


def test_nothing_is_transferred_without_operation():
    done = bench.run("memory", "--memory-total-size=1M", "--memory-oper=none", "run")
    operations, moved = figures(done.out)
    assert (operations, moved, done.status) == (1024, None, 0)


def test_events_are_ignored_and_that_is_said():
    done = bench.run("memory", "--memory-total-size=1M", "--events=5", "run")
    assert figures(done.out)[0] == 1024
    assert "ignores --events" in done.err


@pytest.mark.parametrize("options, dialect, told", [
    (["--memory-total-size=1M", "--time=5"], "own", True), (["--memory-total-size=1M", "--time=5"], "1.1", False),
    (["--memory-total-size=1M"], "own", False), (["--memory-total-size=0", "--time=0.1"], "own", False)])
def test_a_total_that_ends_the_run_before_its_time_is_told(options, dialect, told):
    done = bench.run("memory", *options, "run", dialect=dialect)
    said = "--memory-total-size=1M was reached before --time=5; --memory-total-size=0 removes this limit\n"
    assert (done.status, done.err) == (0, said if told else "")


@pytest.mark.sanitized
def test_warm_up_is_not_part_of_the_total():
    done = bench.run("memory", "--memory-total-size=64M", "--warmup-time=0.2", "--time=0", "run")
    assert done.status == 0
    operations, _ = figures(done.out)
    assert 65536 <= operations <= 65537


@pytest.mark.parametrize("mode, dialect", diagonal(["seq", "rnd"], ["own", "1.0"]))
def test_scopes(mode, dialect):
    for scope in ("global", "local"):
        done = bench.run("memory", "--threads=4", "--memory-block-size=64K",
                         "--memory-total-size=16M", f"--memory-scope={scope}",
                         f"--memory-access-mode={mode}", "run", dialect=dialect)
        assert done.status == 0, done.err
        assert figures(done.out) == (256, 16.0)
        assert f"  scope: {scope}\n" in done.out


KERNELS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}


@pytest.mark.parametrize("kernel, scope", diagonal(list(KERNELS), ["global", "local"]))
def test_stream_kernels_count_as_stream(kernel, scope):
    """Three threads and a power of two: a block for all is divided into unequal parts."""
    done = bench.run("memory", f"--memory-kernel={kernel}", f"--memory-scope={scope}",
                     "--threads=3", "--memory-block-size=64K", "--memory-total-size=12M",
                     "--time=0", "run")
    assert done.status == 0, done.err
    operations, moved = figures(done.out)
    passes = 12 * 1024 // 64 // KERNELS[kernel]
    assert operations == passes * (3 if scope == "global" else 1)
    assert moved == 12.0
    assert re.search(rf"^  operation: {kernel} \(.+\)$", done.out, re.M)


@pytest.mark.parametrize("kernel", ["avx-read", "avx-write", "nt-write"])
def test_vector_kernels_run_or_say_what_is_missing(kernel):
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        able = " avx " in cpuinfo.read()
    done = bench.run("memory", f"--memory-kernel={kernel}", "--memory-block-size=4K",
                     "--memory-total-size=1M", "run")
    if able:
        assert (done.status, *figures(done.out)) == (0, 256, 1.0)
    else:
        assert done.status == 1 and "this processor lacks AVX" in done.out


@pytest.mark.slow
def test_latency_grows_with_the_working_set():
    """Nanoseconds per load are those of the events, and main memory is not the first cache."""
    took = {}
    for size in ("4K", "64M") * 3:  # a stall of 0.1 s makes the one as slow as the other
        done = bench.run("memory", "--memory-oper=latency", f"--memory-block-size={size}",
                         "--memory-total-size=20M", "--time=0", "run")
        assert done.status == 0, done.err
        assert figures(done.out) == (640, 20.0)
        found = float(re.search(r"^Nanoseconds per load: ([\d.]+)$", done.out, re.M).group(1))
        total = float(re.search(r"^ *sum: +([\d.]+)$", done.out, re.M).group(1)) * 1e6
        assert found == pytest.approx(total / (640 * 4096), rel=0.02, abs=0.006)
        took[size] = min(found, took.get(size, found))
    assert took["64M"] > 2 * took["4K"]


def test_a_rate_leaves_out_the_latency_of_a_load():
    """The times of events count from their arrivals then, and contain waits."""
    done = bench.run("memory", "--memory-oper=latency", "--memory-block-size=4K", "--rate=1000",
                     "--memory-total-size=40K", "run")
    assert done.status in (0, 4) and "Nanoseconds" not in done.out, done  # 4: this machine was too slow


def test_reports_have_no_new_line_unless_asked_for():
    done = bench.run("memory", "--memory-total-size=1M", "run")
    assert "Nanoseconds" not in done.out and "kernel" not in done.out and "NUMA" not in done.out


def test_small_blocks_need_no_word():
    """What an event costs is in the manual."""
    done = bench.run("memory", "--memory-block-size=1K", "--memory-total-size=1M", "run")
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize(
    "options,said",
    [
        (["--memory-kernel=add", "--memory-oper=read"],
         "--memory-kernel=add: cannot be used with --memory-oper or --memory-access-mode"),
        (["--memory-kernel=add", "--memory-access-mode=rnd"],
         "--memory-kernel=add: cannot be used with --memory-oper or --memory-access-mode"),
        (["--memory-kernel=add", "--memory-block-size=64", "--threads=2"],
         "--memory-block-size=64: too small; allowed: 128 or more bytes"),
        (["--memory-oper=latency", "--memory-access-mode=rnd"],
         "--memory-oper=latency: cannot be used with --memory-access-mode"),
        (["--memory-oper=latency", "--memory-block-size=32"],
         "--memory-block-size=32: too small; allowed: 64 or more bytes"),
        (["--memory-oper=latency", "--memory-total-size=32767"], "--memory-total-size=32767: less than the 32768 bytes of one event; allowed: 32768 or more"),
        (["--memory-kernel=copy", f"--memory-block-size={1 << 63}"],
         f"--memory-total-size={100 << 30}: less than the {(1 << 64) - 1} bytes of one event; allowed: "),
        (["--memory-kernel=add", "--memory-total-size=2K"], "--memory-total-size=2048: less than the 3072 bytes of one event; allowed: 3072 or more"),
        (["--memory-block-size=1T", "--memory-total-size=0", "--threads=1024",
          "--memory-scope=local"],
         "--memory-block-size=1099511627776: too large: with 1024 threads, the blocks need more than the "),
        (["--memory-numa=here"], "--memory-numa=here: unknown; allowed: local"),
        (["--memory-numa=1x"], "--memory-numa=1x: unknown; allowed: local"),
        (["--memory-numa=-1"], "--memory-numa=-1: unknown; allowed: local"),
    ],
)
def test_what_does_not_go_together_is_refused(options, said):
    done = bench.run("memory", *options, "run")
    assert done.status == 1
    assert done.err.startswith(said)
    assert "FATAL" not in done.out and "Threads started" not in done.out


def proc_file(options, name, seen=lambda lines: True):
    """A file of /proc about a run with these options, read while it goes on, until it is as SEEN
    wants it or minutes are over."""
    command = [bench.binary(), "memory", "--memory-block-size=64M", "--memory-total-size=0",
               "--time=600", *options, "run"]
    with subprocess.Popen(command, env=bench.environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as run:
        try:
            for line in run.stdout:
                if "Threads started" in line:
                    break
            else:
                pytest.fail("the run did not start")
            path = pathlib.Path(f"/proc/{run.pid}/{name}")
            until = time.monotonic() + bench.TIMEOUT_S / 2
            while True:
                lines = path.read_text(encoding="utf-8").splitlines()
                if seen(lines) or time.monotonic() > until:
                    return lines
                time.sleep(0.1)
        finally:
            run.terminate()
            run.communicate()


@pytest.mark.parametrize(
    "options,wanted",
    [
        (["--memory-numa=0"], "bind:0"),
        (["--memory-numa=interleave"], "interleave:0"),
        (["--memory-numa=local", "--memory-scope=local"], "bind:0"),
    ],
)
def test_blocks_are_placed(options, wanted):
    # Not from /sys, which a chroot need not have.
    status = pathlib.Path("/proc/self/status").read_text(encoding="utf-8")
    if re.search(r"^Mems_allowed_list:\s*0$", status, re.M) is None:
        wanted = wanted.split(":", maxsplit=1)[0]

    def placed(lines):
        return any(f" {wanted} " in line and "dirty=16384" in line for line in lines)

    # Blocks of threads are written for the first time while the run goes on.
    assert placed(proc_file(options, "numa_maps", placed))


def test_nodes_that_are_not_there_are_refused():
    done = bench.run("memory", "--memory-numa=1000", "run")
    assert done.status == 1
    assert "--memory-numa=1000: there is no such node" in done.err
    done = bench.run("memory", "--memory-numa=local", "run")
    assert done.status == 1
    assert done.err == ("--memory-numa=local: cannot be used without --memory-scope=local: a block for all threads "
                        "lies on one node\n")


def test_nothing_loads_libnuma_unasked():
    for options, loads in ([], False), (["--memory-numa=0"], True):
        assert any("libnuma" in line for line in proc_file(options, "maps")) == loads


@pytest.mark.sanitized
def test_long_runs_are_reported_in_between(tmp_path):
    """With the rates of the rows, at the times that a busy machine leaves."""
    done = bench.run("memory", "--memory-total-size=0", "--memory-block-size=1M", "--time=0.6",
                     "--report-interval=0.1", "--report=text", "--report=csv:csv", "run", cwd=tmp_path)
    lines = re.findall(r"^\[ (\d\.\d)s \] ([\d.]+) MiB/sec$", done.out, re.M)
    rows = list(csv.DictReader((tmp_path / "csv").read_text().splitlines()))
    assert len(lines) == len(rows) >= 1
    for (at_s, rate), row in zip(lines, rows):
        assert float(at_s) == pytest.approx(float(row["at_s"]), abs=0.06)
        assert float(rate) == pytest.approx(float(row["bytes_moved_per_s"]) / 2**20, abs=0.006)


def test_huge_pages_that_are_not_to_be_had(tmp_path):
    """The second piece of the block has none: a write would end the process by SIGBUS.  An old kernel cannot tell."""
    library = build_faults(tmp_path)
    args = ("memory", "--memory-hugetlb", "--memory-block-size=128M", "--memory-total-size=128M", "run")
    for error in (errno.EFAULT, errno.ENOMEM):
        done = bench.run(*args, env=with_fault(library, "populate", 1, error))
        assert (done.status, done.err) == (
            1, "FATAL: the pool has no more huge pages for this control group or NUMA node: see hugetlb.*.max, "
               "vm.nr_hugepages and --memory-numa\n")
    done = bench.run(*args, env=with_fault(library, "populate", 1, errno.EINVAL))
    assert (done.status, figures(done.out)) == (0, (1, 128.0)), done
    done = bench.run(*args, env=with_fault(library, "shmget", 0, errno.ENOMEM))
    assert done.status == 1
    assert "\nthe pool of huge pages is too small: raise sysctl vm.nr_hugepages\n" in done.err


def half_of_memory():
    """The largest power of two within half of the free memory and 8 GiB."""
    free = re.search(r"^MemAvailable: +(\d+) kB$",
                     pathlib.Path("/proc/meminfo").read_text(encoding="utf-8"), re.M)
    return 1 << (min(int(free.group(1)) * 512, 8 << 30).bit_length() - 1)


def resident(process):
    """KiB of memory that a process has, 0 when it has gone."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.M)
    return int(found.group(1)) if found else 0


@pytest.mark.parametrize("oper", [slow("write"), "latency"])
def test_a_signal_ends_the_making_of_a_large_block(oper):
    """Its pages take the kernel seconds, its cycle of pointers takes minutes."""
    command = [bench.binary(), "memory", f"--memory-block-size={half_of_memory()}",
               f"--memory-oper={oper}", "--memory-total-size=0", "run"]
    with subprocess.Popen(command, env=bench.environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as run:
        until = time.monotonic() + bench.TIMEOUT_S / 2
        while resident(run) < 65536 and run.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate(timeout=bench.TIMEOUT_S)
    assert run.returncode == 128 + signal.SIGTERM
    # Nothing was ready to be run, and nobody lost patience.
    assert len(out.splitlines()) == 2 and "Running" not in out
    assert err == "Terminated received: finishing; send it again to end at once\n"
