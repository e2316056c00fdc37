# SPDX-License-Identifier: GPL-2.0-or-later
"""The fileio test: every mode with every engine, counts, validation, and what can go wrong."""

import ctypes
import errno
import fcntl
import json
import os
import re
import resource
import shutil
import subprocess

import pytest

from bench import TIMEOUT_S, binary, good, run
from files import ASYNC, ENGINES, FILES, MODES, READING, SIZES, TOTAL, WRITING
from files import contents, fileio, memory_folder, prepare
from gate import diagonal, slow

TITLES = {
    "sync": "synchronous",
    "mmap": "fast mmaped",
    "async": "asynchronous",
    "io_uring": "io_uring",
}
REFERENCE = "/usr/bin/sysbench"


@pytest.fixture
def memory(tmp_path):
    """A folder whose flushes cost nothing, for tests with many; a plain one where there is none."""
    folder = memory_folder()
    yield folder or tmp_path
    if folder:
        shutil.rmtree(folder)


def rates(out):
    """(reads, writes, fsyncs) per second of the 1.0 report."""
    return [float(re.search(rf"{n}/s: +([\d.]+)", out)[1]) for n in ("reads", "writes", "fsyncs")]


def counted(program, folder, *args):
    """Events of a run, and its reads, writes and fsyncs per second."""
    full = [program, "fileio", *SIZES, *args, "run"]
    environ = {**os.environ, "BENCH_COMPAT": "1.0", "LC_ALL": "C"}
    done = subprocess.run(
        full, cwd=folder, env=environ, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    events = int(re.search(r"total number of events: +(\d+)", done.stdout)[1])
    return events, rates(done.stdout)


def exact_counts(folder, *args):
    """Reads, writes, fsyncs of our program, from the report of 0.5."""
    done = fileio(folder, *args, "run", dialect="0.5")
    assert done.status == 0, done
    found = re.search(r"(\d+) reads, (\d+) writes, (\d+) Other", done.out)
    return tuple(map(int, found.groups()))


# --- every mode with every engine -----------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.sanitized
def test_prepare_run_cleanup(tmp_path, engine):
    prepare(tmp_path)
    for mode in MODES:
        done = fileio(
            tmp_path,
            f"--file-test-mode={mode}",
            f"--file-io-mode={engine}",
            "--file-async-backlog=8",
            "--threads=2",
            "--events=150",
            "--file-fsync-freq=50",
            "run",
        )
        assert done.status == 0, (mode, done)
        assert f"Using {TITLES[engine]} I/O mode" in done.out
        assert "FATAL" not in done.err
        sizes = {(tmp_path / f"test_file.{i}").stat().st_size for i in range(FILES)}
        assert sizes == {TOTAL // FILES}, mode
    assert fileio(tmp_path, "cleanup").status == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("engine, extra", diagonal(
    ASYNC or [None], ("--rate=400", "--file-fsync-all", "--file-async-backlog=1")))
def test_asynchronous_engines_with(memory, engine, extra):
    if engine is None:
        pytest.skip("there is no asynchronous engine")
    prepare(memory)
    args = ("--file-test-mode=rndrw", f"--file-io-mode={engine}", "--events=90", extra)
    reads, writes, flushes = exact_counts(memory, *args, "--file-fsync-freq=0")
    assert (reads, writes) == (54, 36)
    assert flushes == (36 if "fsync-all" in extra else FILES)


@pytest.mark.parametrize("engine", ASYNC)
def test_latency_of_asynchronous_requests_is_theirs(tmp_path, engine):
    """Requests wait in a queue of 32, so their latencies add up to several times the run's time.

    Up to 32 times; a machine that stands still when all is done makes it less.
    """
    prepare(tmp_path)
    args = ("--file-test-mode=rndrd", f"--file-io-mode={engine}", "--events=64000")
    done = fileio(tmp_path, *args, "--file-async-backlog=32", "run", dialect="1.0")
    total = float(re.search(r"total time: +([\d.]+)s", done.out)[1])
    summed = float(re.search(r"sum: +([\d.]+)", done.out)[1]) / 1000
    assert total < summed < total * 33, done.out


class Filter(ctypes.Structure):
    """A BPF instruction."""

    _fields_ = [
        ("code", ctypes.c_uint16),
        ("jt", ctypes.c_uint8),
        ("jf", ctypes.c_uint8),
        ("k", ctypes.c_uint32),
    ]


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_uint16), ("filter", ctypes.POINTER(Filter))]


def refuse_uring(error):
    """Makes io_uring_setup fail in this process, as containers do."""
    io_uring_setup, no_new_privs, set_seccomp = 425, 38, 22
    code = (Filter * 4)(
        (0x20, 0, 0, 0),  # load the number of the system call
        (0x15, 0, 1, io_uring_setup),
        (0x06, 0, 0, 0x00050000 | error),  # fail with that error
        (0x06, 0, 0, 0x7FFF0000),  # allow
    )
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(no_new_privs, 1, 0, 0, 0)
    if libc.prctl(set_seccomp, 2, ctypes.byref(Program(4, code)), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


@pytest.mark.skipif("io_uring" not in ENGINES, reason="there is no io_uring to be refused")
@pytest.mark.parametrize(
    "error, sentence",
    (
        (errno.EPERM, "the kernel refuses io_uring to this user (Operation not permitted): see"),
        (errno.ENOSYS, "this kernel has no io_uring, or a seccomp profile hides it: use"),
    ),
)
def test_refused_uring_is_one_sentence(tmp_path, error, sentence):
    prepare(tmp_path)
    before = contents(tmp_path)
    # seqwr would make its files anew.
    for mode in ("rndrd", "seqwr"):
        args = ("--file-io-mode=io_uring", f"--file-test-mode={mode}", "--threads=4")
        done = fileio(tmp_path, *args, "run", preexec_fn=lambda: refuse_uring(error))
        assert done.status == 1
        assert done.err.count("FATAL: ") == 1
        assert f"FATAL: {sentence}" in done.err
        assert "Threads started" not in done.out
        assert contents(tmp_path) == before


@pytest.mark.skipif("io_uring" not in ENGINES, reason="there is no io_uring to poll")
def test_a_kernel_thread_takes_the_requests(tmp_path):
    prepare(tmp_path)
    args = ("--file-io-mode=io_uring", "--file-test-mode=rndrw", "--events=200")
    for depth in (1, 16):
        more = (f"--file-async-backlog={depth}", "--file-uring-sqpoll", "--threads=2")
        done = fileio(tmp_path, *args, *more, "run", dialect="0.5")
        if done.status == 0:
            assert "Operations performed:  120 reads, 80 writes, " in done.out, done
            continue
        refusals = [line for line in done.out.splitlines() if line.startswith("FATAL: ")]
        assert refusals == [
            "FATAL: the kernel refuses io_uring to this user (Operation not permitted): see sysctl "
            "kernel.io_uring_disabled and the container's seccomp profile, or use "
            "--file-io-mode=async"
        ]


@pytest.mark.skipif("io_uring" not in ENGINES, reason="there is no io_uring to poll")
def test_the_device_is_polled_or_the_refusal_is_one_sentence(tmp_path):
    prepare(tmp_path)
    args = ("--file-io-mode=io_uring", "--file-test-mode=rndrw", "--events=200", "--threads=2")
    done = fileio(tmp_path, *args, "--file-uring-iopoll", "run")
    assert done.status == 1
    assert "FATAL" not in done.out
    assert done.err == "--file-uring-iopoll=on: cannot be used without --file-extra-flags=direct\n"
    done = fileio(tmp_path, *args, "--file-uring-iopoll", "--file-extra-flags=direct", "run")
    if done.status == 0:
        assert "FATAL" not in done.err
        return
    refusals = [line for line in done.err.splitlines() if line.startswith("FATAL: ")]
    assert refusals in (
        ["FATAL: the device of the files cannot be polled: leave out --file-uring-iopoll"],
        [
            "FATAL: this file system has no direct I/O: use --file-dir, or leave 'direct' out of "
            "--file-extra-flags"
        ],
    )


def test_only_a_run_refuses_polling_by_other_engines(tmp_path):
    """Other commands take the options of the run, and have no engine."""
    polling = ("--file-uring-sqpoll", "--file-uring-iopoll", "--file-extra-flags=direct", "--file-block-size=4096")
    assert "cannot be used" not in fileio(tmp_path, *polling, "prepare").err
    assert fileio(tmp_path, *polling, "cleanup").status == 0


def is_open_elsewhere(path):
    """The kernel gives a lease for writing to nobody while anybody else has the file open."""
    with open(path, "r+b") as f:
        try:
            fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except BlockingIOError:
            return True
        except OSError:
            pytest.skip("there are no leases here")
        return False


@pytest.mark.parametrize("engine", ENGINES)
def test_files_are_closed_when_the_program_has_ended(memory, engine):
    """Files that a ring still held would fill the disk after they have been removed."""
    prepare(memory)
    for _ in range(5):
        args = ("--file-test-mode=rndrd", f"--file-io-mode={engine}", "--events=20", "run")
        assert fileio(memory, *args).status == 0
        assert not is_open_elsewhere(memory / "test_file.0")


# --- counts ---------------------------------------------------------------------------------------

VARIANTS = (
    (),
    ("--file-fsync-freq=0",),
    ("--file-fsync-freq=7",),
    ("--file-fsync-end=off",),
    ("--file-fsync-all=on",),
    ("--file-fsync-mode=fdatasync", "--file-fsync-freq=10"),
    ("--file-rw-ratio=4", "--file-fsync-freq=10"),
    ("--file-merged-requests=4", "--file-fsync-freq=10"),
    ("--file-io-mode=mmap", "--file-fsync-freq=10"),
    ("--file-total-size=300K", "--file-num=5", "--file-fsync-freq=10"),
)


@pytest.mark.skipif(not os.access(REFERENCE, os.X_OK), reason="there is no sysbench to compare with")
@pytest.mark.parametrize("mode", [m if m in ("rndrw", "seqwr") else slow(m) for m in MODES])
def test_counts_are_the_references(memory, mode):
    """With one thread all numbers are exact, so their proportions must be equal."""
    for variant in VARIANTS:
        ours, theirs = memory / "ours", memory / "theirs"
        sizes = [a for a in variant if "total" in a or "num" in a]
        for folder in (ours, theirs):
            folder.mkdir(exist_ok=True)
            prepare(folder, *sizes)
        args = (f"--file-test-mode={mode}", "--events=230", "--time=0", *variant)
        our_events, our = counted(binary(), ours, *args)
        their_events, their = counted(REFERENCE, theirs, *args)
        assert our_events == their_events == 230
        for a, b in zip(shares(our), shares(their)):
            assert abs(a - b) < 0.002, (variant, our, their)
        assert contents(ours) == contents(theirs), variant


def shares(numbers):
    return [n / sum(numbers) for n in numbers]


@pytest.mark.parametrize("engine, threads", diagonal(ENGINES, (1, 4)))
def test_flush_schedule_is_exact(memory, engine, threads):
    """0.5 does not count flushes as events: 1000 requests, 9 series and the files once at the end."""
    prepare(memory)
    args = (f"--file-io-mode={engine}", f"--threads={threads}", "--events=1000", "--time=0")
    got = exact_counts(memory, *args, "--file-test-mode=rndwr", "--file-async-backlog=16")
    assert got == (0, 1000, 10 * FILES)


def test_flushes_are_events(tmp_path):
    """The golden sequence: 24 events are 20 requests and 4 flushes, and 3 more come at the end."""
    for mode in WRITING:
        prepare(tmp_path)
        args = (f"--file-test-mode={mode}", "--events=24", "--time=0", "--file-fsync-freq=10")
        events, (reads, writes, flushes) = counted(binary(), tmp_path, *args)
        assert events == 24
        assert abs(flushes / (reads + writes) - 7 / 20) < 0.002


@pytest.mark.parametrize("dialect", ["0.5", "1.0"])
def test_ratio_of_many_threads(memory, dialect):
    """All threads together keep it: 100 events are 80 reads and 20 writes, whichever of them has which.
    Each of the threads has some, because it holds an arrival until it is due."""
    prepare(memory)
    done = fileio(memory, "--file-test-mode=rndrw", "--file-rw-ratio=4", "--file-fsync-freq=0", "--threads=8",
                  "--events=100", "--rate=1000", "--report=json:r.json", "run", dialect=dialect)
    assert done.status == 0, done
    figures = json.loads((memory / "r.json").read_text())["groups"][0]["total"]["figures"]
    assert (figures["reads"], figures["writes"]) == (80, 20)


def requests(folder, *args):
    """What is asked of the files, in order."""
    common = ("--events=200", "--rand-seed=7", "--verbosity=5", "--file-test-mode=rndrw")
    done = fileio(folder, *common, *args, "run")
    assert done.status == 0, done
    found = [line for line in done.out.splitlines() if "Executing request" in line]
    # The log folds a line that repeats the one before.
    assert 190 <= len(found) <= 200
    return found


def test_a_seed_gives_every_engine_the_same_requests(memory):
    """Whatever is measured meanwhile, and however many are in flight."""
    prepare(memory)
    first = requests(memory)
    assert len(set(first)) > 50
    assert requests(memory, "--rand-seed=8") != first
    for engine in ENGINES:
        more = (f"--file-io-mode={engine}", "--file-async-backlog=8", "--percentile=0")
        assert requests(memory, *more) == first, engine


# --- files ----------------------------------------------------------------------------------------


def test_prepare_makes_extends_and_reuses(tmp_path):
    assert prepare(tmp_path).out.count("Creating file test_file.") == FILES
    (tmp_path / "test_file.1").unlink()
    os.truncate(tmp_path / "test_file.2", 5000)
    out = prepare(tmp_path).out
    assert "Reusing existing file test_file.0" in out
    assert "Creating file test_file.1" in out
    assert "Extending existing file test_file.2" in out
    # From the last whole block on: 131072 and 131072 - 4096 bytes.
    assert f"{131072 + 131072 - 4096} bytes written" in out
    assert "No bytes written." in prepare(tmp_path).out


def test_files_in_another_folder(tmp_path):
    there = tmp_path / "with blank"
    there.mkdir()
    arg = f"--file-dir={there}"
    assert f"Creating file {there}/test_file.0" in prepare(tmp_path, arg).out
    done = fileio(tmp_path, arg, "--file-test-mode=rndrd", "--events=10", "run")
    assert done.status == 0
    assert fileio(tmp_path, arg, "cleanup").status == 0
    assert list(there.iterdir()) == []
    assert list(tmp_path.iterdir()) == [there]


def test_cleanup_leaves_other_files(tmp_path):
    prepare(tmp_path)
    kept = ["test_file", "test_file.3", "test_file.x", "other"]
    for name in kept:
        (tmp_path / name).touch()
    assert fileio(tmp_path, "cleanup").status == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(kept)


@pytest.mark.parametrize("options, note", [
    (("--file-num=12", "--file-total-size=192K"), None),
    (("--file-num=2", "--file-total-size=32K"),
     "'.' has 12 test files, of which the run uses 2; for all of them use --file-num=12"),
    (("--file-num=12", "--file-total-size=96K", "--file-block-size=8K"),
     "test_file.0 has 16KiB, of which the run uses 8KiB, as --file-total-size, --file-block-size or --file-num is "
     "another one than at 'prepare'"),
])
def test_a_run_tells_that_it_uses_less_than_was_prepared(tmp_path, options, note):
    assert fileio(tmp_path, "--file-num=12", "--file-total-size=192K", "prepare").status == 0
    run = ("--file-test-mode=rndrd", "--events=1", *options, "run")
    assert [line for line in fileio(tmp_path, *run).err.splitlines() if "of which the run uses" in line] == (
        [note] if note else [])
    assert "of which" not in fileio(tmp_path, *run, dialect="1.0").err


def test_a_run_uses_what_the_same_options_have_prepared(tmp_path):
    """Files that are no multiple of a block have their last block whole."""
    sizes = ("--file-total-size=100000", "--file-num=3")
    prepare(tmp_path, *sizes)
    assert (tmp_path / "test_file.0").stat().st_size > 100000 // 3
    done = fileio(tmp_path, *sizes, "--file-test-mode=rndrd", "--events=1", "run")
    assert done.status == 0 and "of which the run uses" not in done.err, done


def test_a_run_counts_the_files_that_are_there(tmp_path):
    """With gaps in the numbers, the highest number is not their count, and no --file-num uses all."""
    assert fileio(tmp_path, "--file-num=12", "--file-total-size=192K", "prepare").status == 0
    for i in range(4, 11):
        (tmp_path / f"test_file.{i}").unlink()
    done = fileio(tmp_path, "--file-num=2", "--file-total-size=32K", "--file-test-mode=rndrd", "--events=1", "run")
    assert "'.' has 5 test files, of which the run uses 2; some up to test_file.11 are missing\n" in done.err


def test_cleanup_tells_what_a_smaller_number_left(tmp_path):
    assert fileio(tmp_path, "--file-num=12", "--file-total-size=192K", "prepare").status == 0
    for name in ("test_file.012", "test_file.99x", "test_file.-5", "test_file.100000", f"test_file.{2**63 - 1}"):
        (tmp_path / name).touch()
    done = fileio(tmp_path, "--file-num=2", "--file-total-size=192K", "cleanup")
    assert done.status == 0
    assert done.err == ("10 more file(s) named test_file.N are in '.', up to test_file.11; to remove them too run cleanup "
                        "with --file-num=12\n")
    done = fileio(tmp_path, "--file-num=11", "--file-total-size=176K", "cleanup", dialect="1.0")
    assert (done.status, done.err) == (0, "")
    assert (tmp_path / "test_file.11").exists()
    assert fileio(tmp_path, "--file-num=12", "--file-total-size=192K", "cleanup").err == ""
    assert len(list(tmp_path.iterdir())) == 5


def test_no_room(tmp_path):
    room = shutil.disk_usage(tmp_path).total
    done = fileio(tmp_path, f"--file-total-size={room * 2}", "prepare")
    assert done.status == 1
    assert "FATAL: the files need " in done.err and " left: lower --file-total-size" in done.err
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_not_there(tmp_path):
    (tmp_path / "plain").touch()
    for name in ("nowhere", "plain"):
        done = fileio(tmp_path, f"--file-dir={name}", "prepare")
        assert done.status == 1
        assert done.err == f"--file-dir={name}: not a folder\n"
        done = fileio(tmp_path, f"--file-dir={name}", "prepare", dialect="1.0")
        assert f"FATAL: Invalid value for --file-dir: '{name}' is not a folder\n" in done.out


def memory_and_swap():
    """Bytes of the host."""
    with open("/proc/meminfo") as f:
        kib = dict(line.split()[:2] for line in f)
    return (int(kib["MemTotal:"]) + int(kib["SwapTotal:"])) * 1024


def refuse_buffers(folder, engine, depth, size, threads):
    """Asks for more buffers than memory: the run is refused rather than killed by the kernel."""
    args = ("--file-num=1", "--file-total-size=1G", f"--file-block-size={size}", f"--threads={threads}")
    args += (f"--file-async-backlog={depth}", "--file-test-mode=seqwr", f"--file-io-mode={engine}")
    done = run("fileio", *args, "run", cwd=folder)
    assert done.status == 1
    assert list(folder.iterdir()) == []
    return done.err


def test_more_buffers_than_memory(tmp_path):
    for engine in ASYNC:
        err = refuse_buffers(tmp_path, engine, 65536, "1G", 16)
        need = "FATAL: 65536 request(s) with a buffer of 1GiB in each of 16 thread(s) need more than the "
        assert need in err and " MiB of memory and swap of this machine or its control group: " in err
        assert "lower --file-async-backlog, --file-block-size or --threads\n" in err


def test_buffers_are_whole_pages(tmp_path):
    """512 bytes for each request would fit eight times or more."""
    page = resource.getpagesize()
    threads = memory_and_swap() // (65536 * page) + 1
    for engine in ASYNC:
        err = refuse_buffers(tmp_path, engine, 65536, 512, threads)
        need = f"FATAL: 65536 request(s) with a buffer of {page // 1024}KiB in each of {threads} thread(s) "
        assert need in err


def test_more_buffers_than_memory_without_a_backlog(tmp_path):
    """With one request in flight, a smaller backlog would not help."""
    threads = memory_and_swap() // (1 << 30) + 1
    err = refuse_buffers(tmp_path, "sync", 1, "1G", threads)
    assert f"FATAL: 1 request(s) with a buffer of 1GiB in each of {threads} thread(s) need more " in err
    assert "of this machine or its control group: lower --file-block-size or --threads\n" in err


def test_many_files(memory):
    """More than the soft limit on open files allows."""

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 4096))

    many = ("--file-num=1000", "--file-total-size=4096000")
    assert prepare(memory, *many).out.count("Creating file test_file.") == 1000
    done = fileio(
        memory, *many, "--file-test-mode=rndrw", "--events=300", "run", preexec_fn=limit
    )
    assert done.status == 0, done
    assert fileio(memory, *many, "cleanup").status == 0
    assert list(memory.iterdir()) == []


# --- studies --------------------------------------------------------------------------------------


def study(folder, *args):
    done = run("--test=fileio", *args, cwd=folder, dialect="1.0")
    assert done.status == 0, done
    assert "WARNING: the --test option is deprecated" in done.err
    return done.out


@pytest.mark.parametrize("files", [n if n in (1, 8) else slow(n) for n in (1, 2, 4, 8, 16, 32, 64, 128)])
def test_study_of_the_number_of_files(memory, files):
    """prepare, every mode, cleanup: as they are typed, with smaller sizes."""
    sizes = (f"--file-num={files}", "--file-total-size=8M")
    for mode in MODES:
        out = study(memory, *sizes, "prepare")
        assert f"{files} files, {8192 // files}Kb each, 8Mb total" in out
        args = (*sizes, f"--file-test-mode={mode}", "--num-threads=4", "--max-requests=300")
        out = study(memory, *args, "--max-time=30", "run")
        assert re.search(r"total number of events: +300\n", out), out
        reads, writes, _ = rates(out)
        assert (reads > 0) == (mode in READING) and (writes > 0) == (mode in WRITING), out
    study(memory, *sizes, "cleanup")
    assert contents(memory) == {}


@pytest.mark.slow
def test_study_of_block_sizes(memory):
    for block in ("512", "1K", "4K", "8192", "16K", "64K", "256K", "1M"):
        sizes = ("--file-num=2", "--file-total-size=8M", f"--file-block-size={block}")
        study(memory, *sizes, "prepare")
        for mode in ("seqrd", "rndrw"):
            out = study(memory, *sizes, f"--file-test-mode={mode}", "--max-requests=100", "run")
            assert re.search(r"total number of events: +100\n", out), out
    study(memory, "--file-num=2", "cleanup")
    assert contents(memory) == {}


# --- options --------------------------------------------------------------------------------------


def test_all_flags_together(tmp_path):
    prepare(tmp_path)
    args = ("--file-extra-flags=sync,dsync,direct", "--file-test-mode=rndrw", "--events=20")
    done = fileio(tmp_path, *args, "run")
    if done.status != 0:
        assert "direct I/O" in done.out + done.err
        pytest.skip("the file system of the tests has no direct I/O")
    assert "Extra file open flags: sync dsync directio\n" in done.out


@pytest.mark.parametrize("mode", ["rndrd", "seqwr"])
def test_direct_with_odd_blocks(tmp_path, mode):
    prepare(tmp_path)
    before = contents(tmp_path)
    args = ("--file-extra-flags=direct", f"--file-test-mode={mode}", "--file-block-size=1000")
    done = fileio(tmp_path, *args, "--events=5", "run")
    assert done.status == 1
    assert "FATAL: " in done.err and "errno = 0" not in done.err
    assert contents(tmp_path) == before


def test_the_mode_is_needed(tmp_path):
    done = run("fileio", "run", cwd=tmp_path)
    assert (done.err, done.status) == ("--file-test-mode: no value; see 'bench fileio help'\n", 1)
    assert "FATAL" not in done.out and "file-total-size" not in done.out
    done = run("fileio", "run", cwd=tmp_path, dialect="1.0")
    assert "FATAL: Missing required argument: --file-test-mode\n" in done.out and "file-total-size" in done.out


@pytest.mark.parametrize("options, own, plain", [
    (["--file-num=100", "--file-total-size=99"],
     "--file-total-size=99: too small for --file-num=100; allowed: 100 bytes or more",
     "Invalid value for file-total-size: 99 (--file-num=100 files need at least one byte each)"),
    (["--file-test-mode=seqwr", "--file-merged-requests=70000"],
     "--file-merged-requests=70000: blocks of 16384 bytes make a request of more than 1 GiB",
     "Invalid value for file-merged-requests: 70000. (blocks of 16384 bytes make a request of more than 1 GiB)"),
    (["--validate", "--file-block-size=4"],
     "--file-block-size=4: too small for --validate; allowed: {} bytes or more",
     "Invalid value for file-block-size: 4. (--validate needs {})")])
def test_sizes_that_do_not_fit_each_other(tmp_path, options, own, plain):
    word = "run" if "--file-test-mode=seqwr" in options else "prepare"
    done = run("fileio", *options, word, cwd=tmp_path)
    assert done.status == 1 and "FATAL" not in done.out
    assert re.fullmatch(re.escape(own).replace(r"\{\}", r"\d+") + "\n", done.err)
    done = run("fileio", *options, word, cwd=tmp_path, dialect="1.0")
    assert (done.err, done.status) == ("", 1)
    assert list(tmp_path.iterdir()) == []
    assert re.search("^FATAL: " + re.escape(plain).replace(r"\{\}", r"\d+") + "$", done.out, re.M)


def test_only_joined_blocks_have_a_largest_request(tmp_path):
    """A block of more than 1 GiB is accepted by sequential tests as by random ones; only a request that joins such
    blocks is refused, by the option that joins them."""
    sizes = ["--file-num=1", "--file-total-size=64K"]
    assert fileio(tmp_path, *sizes, "prepare").status == 0
    large = [*sizes, "--file-block-size=1500M", "--events=2", "--time=0"]
    for mode in ["seqrd", "rndrd"]:
        done = fileio(tmp_path, *large, f"--file-test-mode={mode}", "run")
        assert done.status == 0, done.out + done.err
    done = fileio(tmp_path, *large, "--file-test-mode=seqrd", "--file-merged-requests=2", "run")
    assert (done.status, done.err) == (1, "--file-merged-requests=2: blocks of 1572864000 bytes make a request of "
                                       "more than 1 GiB\n")


def test_block_size_with_a_suffix(tmp_path):
    done = fileio(tmp_path, "--file-block-size=8K", "prepare")
    assert done.status == 0
    done = fileio(
        tmp_path, "--file-block-size=8K", "--file-test-mode=rndrd", "--events=5", "run"
    )
    assert "Block size 8KiB\n" in done.out


def test_memory_is_told(tmp_path):
    prepare(tmp_path)
    done = fileio(tmp_path, "--file-test-mode=rndrd", "--events=5", "run")
    lines = done.err.splitlines()
    assert len(lines) == 1 and "test files" in lines[0]
    assert "page cache" in lines[0] or "in memory" in lines[0]


def test_memory_file_system_is_told(memory, tmp_path):
    if memory == tmp_path:
        pytest.skip("there is no memory file system")
    prepare(memory)
    done = fileio(memory, "--file-test-mode=rndrd", "--events=5", "run")
    assert "the file system of the test files is in memory, so the test measures memory" in done.err


# --- what the report says outside the dialects ----------------------------------------------------

KINDS = {"reads": "read_latency", "writes": "write_latency", "fsyncs": "fsync_latency"}


def latencies(out):
    """The blocks "Latency of ...": {"reads": [min, avg, max, percentiles...]} in ms."""
    blocks = re.findall(r"^Latency of (\w+) \(ms\):\n((?: .*\n)+)", out, re.M)
    return {kind: [float(x) for x in re.findall(r": +([\d.]+)$", rows, re.M)] for kind, rows in blocks}


def test_reads_writes_and_flushes_have_latencies_of_their_own(tmp_path):
    prepare(tmp_path)
    done = fileio(tmp_path, "--file-test-mode=rndrw", "--events=150", "--file-fsync-freq=50",
                  "--percentile=99,50", "--report=text", "--report=json:json", "run")
    assert done.status == 0, done
    assert done.out.count("99th percentile:") == 4
    total = json.loads((tmp_path / "json").read_text())["groups"][0]["total"]
    timings = {t["name"]: t for t in total["timings"]}
    counts = [timings[name]["count"] for name in KINDS.values()]
    assert counts == [total["figures"][name] for name in ("reads", "writes", "other")]
    shown = latencies(done.out)
    assert list(shown) == list(KINDS)
    for kind, name in KINDS.items():
        t = timings[name]
        p99, p50 = t["percentiles"]
        assert (p99["percent"], p50["percent"]) == (99, 50)
        assert t["min_s"] <= p50["s"] <= p99["s"] <= t["max_s"]
        wanted = [t["min_s"], t["avg_s"], t["max_s"], p50["s"], p99["s"]]
        assert shown[kind] == pytest.approx([1e3 * s for s in wanted], rel=0.006), kind
    assert re.search(r"^    time elapsed: +[\d.]+s$", done.out, re.M)
    assert re.search(r"^    total number of events: +150$", done.out, re.M)


@pytest.mark.parametrize("args, dialect", (
    ((), "own"), (("--rate=200",), "own"), slow(("--time=1",), "1.0")))
def test_rates_leave_out_the_flushes_at_the_end(memory, args, dialect):
    """In dialects they are part of the run's time."""
    files = ("--file-num=128", "--file-total-size=512K")
    prepare(memory, *files)
    done = fileio(memory, *files, "--file-test-mode=rndwr", "--file-fsync-freq=0", "--time=0.3", *args,
                  "--report=json:r.json", "run", dialect=dialect)
    assert done.status in good(args), done
    total = json.loads((memory / "r.json").read_text())["groups"][0]["total"]
    own, figures = {row["name"]: row["value"] for row in total["workload"]}, total["figures"]
    assert figures["other"] == 128
    assert (figures["other_per_s"] == 0) == (dialect == "own")
    assert (own["writes_per_s"], own["fsyncs_per_s"]) == (figures["writes_per_s"], figures["other_per_s"])


def test_kinds_of_requests_that_did_not_happen_have_no_latency(tmp_path):
    prepare(tmp_path)
    done = fileio(tmp_path, "--file-test-mode=rndrd", "--events=20", "run")
    assert list(latencies(done.out)) == ["reads"]
    for dialect in ("1.1", "1.0"):
        done = fileio(tmp_path, "--file-test-mode=rndrd", "--events=20", "run", dialect=dialect)
        assert done.status == 0 and "Latency of" not in done.out


@pytest.mark.parametrize("flushes, line", (
    ("--file-fsync-freq=10", "Periodic FSYNC enabled, calling {}() each 10 requests."),
    ("--file-fsync-end=on", "Calling {}() at the end of test, Enabled."),
    ("--file-fsync-all", "Calling {}() after each write operation."),
))
def test_the_header_names_the_call_that_flushes(tmp_path, flushes, line):
    prepare(tmp_path)
    args = ("--file-test-mode=rndwr", "--events=5", flushes, "run")
    for mode, dialect, call in (("fsync", "own", "fsync"), ("fdatasync", "own", "fdatasync"),
                                ("fdatasync", "1.0", "fsync")):
        done = fileio(tmp_path, f"--file-fsync-mode={mode}", *args, dialect=dialect)
        assert f"\n{line.format(call)}\n" in done.out, (mode, dialect)
    done = fileio(tmp_path, "--file-io-mode=mmap", *args)
    assert f"\n{line.format('msync')}\n" in done.out


@pytest.mark.parametrize("served, args", (
    ("requests", ("rndwr",)),
    ("requests", ("rndrd", "--file-fsync-all")),
    ("requests", ("rndwr", "--file-io-mode=mmap", "--file-extra-flags=sync")),
    ("requests", ("rndrd", "--file-io-mode=mmap", "--file-extra-flags=direct")),
    ("reads", ("rndrw", "--file-fsync-all")),
    ("reads", ("rndrw", "--file-extra-flags=dsync")),
    (None, ("rndwr", "--file-fsync-all")),
    (None, ("rndwr", "--file-fsync-freq=1")),
    (None, ("rndwr", "--file-extra-flags=dsync")),
    (None, ("seqrewr", "--file-extra-flags=sync")),
))
def test_the_page_cache_serves_what_is_not_flushed(tmp_path, served, args):
    prepare(tmp_path)
    done = fileio(tmp_path, f"--file-test-mode={args[0]}", *args[1:], "--events=5", "run")
    assert done.status == 0, done
    if "in memory" in done.err:
        pytest.skip("the files are in memory")
    if served is None:
        assert done.err == ""
    else:
        advice = ("a larger --file-total-size, or another --file-io-mode with --file-extra-flags=direct"
                  if "--file-io-mode=mmap" in args else "--file-extra-flags=direct or a larger --file-total-size")
        assert done.err.endswith(f"so the page cache serves {served} instead of the device: use {advice}\n")
