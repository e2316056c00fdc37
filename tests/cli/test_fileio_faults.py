# SPDX-License-Identifier: GPL-2.0-or-later
"""What fileio says and leaves behind when disks fill up, devices fail and files go away."""

import ctypes
import errno
import json
import os
import pathlib
import re
import resource
import signal
import subprocess

import pytest

from bench import TIMEOUT_S, binary, environment, run
from files import ASYNC, BLOCK, ENGINES, FILES, MODES, SIZES, TOTAL, WRITING
from files import build_faults, contents, fileio, prepare, with_fault
from gate import diagonal, slow

FILE = TOTAL // FILES
ENOSPC = "No space left on device"
EIO = "Input/output error"


@pytest.fixture(name="library", scope="module")
def faults_library(tmp_path_factory):
    return build_faults(tmp_path_factory.mktemp("faults"))


CAP_DAC_OVERRIDE, CAP_SYS_RESOURCE = 1, 24


def without(capability):
    pr_capbset_drop = 24
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(pr_capbset_drop, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def without_override():
    """Root may write everywhere: the child may not."""
    without(CAP_DAC_OVERRIDE)


# --- options --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("call", ("strndup", "strdup", "reallocarray"))
@pytest.mark.parametrize("args,dialect", [
    (("cpu", "--events=1"), "own"), (("cpu", "--max-requests=1"), "own"), (("cpu", "--config-file=c"), "own"),
    (("--test=cpu", "--max-requests=1"), "0.5")])
def test_no_option_is_lost_for_want_of_memory(library, tmp_path, call, args, dialect):
    """Whichever call fails, the run does not begin without an option.  One in 16 of the first calls, which declare
    options, is tried."""
    (tmp_path / "c").write_text("events=1\n")

    def begins(after):
        fault = with_fault(library, call, after, errno.ENOMEM)
        done = run(*args, "--cpu-max-prime=3", "run", dialect=dialect, cwd=tmp_path, env=fault)
        if done.status == 0:
            assert re.search(r"total number of events: +1\n", done.out), done
        else:
            assert done.status == 1 and "out of memory" in done.out + done.err, done
        return done.status == 0

    about = next(after for after in range(0, 1000, 16) if begins(after))
    calls = next(after for after in range(max(0, about - 48), about + 1) if begins(after))
    assert calls > max(3, about - 16)


# --- prepare --------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", (slow(0), 2, slow(4)))
def test_prepare_on_a_disk_that_fills_up(tmp_path, library, after):
    """Three files of 2 MiB are six writes; what was there before is as it was."""
    (tmp_path / "test_file.1").write_bytes(b"x" * 10000)
    (tmp_path / "other").touch()
    before = contents(tmp_path)
    fault = with_fault(library, "pwrite", after, errno.ENOSPC)
    done = fileio(tmp_path, "--file-total-size=6M", "prepare", env=fault)
    assert done.status == 1
    assert f"FATAL: Failed to write file! file: {after // 2} pos: " in done.err
    assert f"errno = {errno.ENOSPC} ({ENOSPC})\n" in done.err
    assert "bytes written" not in done.out
    assert contents(tmp_path) == before


@pytest.mark.parametrize("mode", ("seqrewr", "rndrw"))
def test_what_a_call_leaves_over_goes_to_its_place(tmp_path, library, mode):
    """A call that moves fewer bytes than it was asked for, as near the end of a disk, is no error."""
    short = with_fault(library, "short", 0, 1)
    assert fileio(tmp_path, "--validate", "prepare").status == 0
    wanted = contents(tmp_path)
    assert fileio(tmp_path, "cleanup").status == 0
    assert fileio(tmp_path, "--validate", "prepare", env=short).status == 0
    assert contents(tmp_path) == wanted
    done = fileio(tmp_path, "--validate", f"--file-test-mode={mode}", "--events=200", "run", env=short)
    assert done.status == 0, done
    done = fileio(tmp_path, "--validate", "--file-test-mode=seqrd", f"--events={TOTAL // BLOCK}", "run")
    assert done.status == 0, done


def test_prepare_beyond_the_limit_on_sizes(tmp_path):
    """The same by the kernel's own means."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000))

    (tmp_path / "test_file.0").write_bytes(b"x" * 10000)
    before = contents(tmp_path)
    done = fileio(tmp_path, "--file-total-size=3M", "prepare", preexec_fn=limit)
    assert done.status == 1
    assert "FATAL: Failed to write file! file: 0" in done.err
    assert "File too large" in done.err
    assert contents(tmp_path) == before


def test_prepare_when_flushing_fails(tmp_path, library):
    done = fileio(tmp_path, "prepare", env=with_fault(library, "fsync", 1, errno.EIO))
    assert done.status == 1
    assert f"FATAL: Failed to fsync file! file: 1 errno = 5 ({EIO})\n" in done.err
    assert contents(tmp_path) == {}


def test_prepare_without_inodes(tmp_path, library):
    (tmp_path / "test_file.7").touch()
    for many, status in (("100000", 1), ("43", 1), ("42", 0)):
        fault = with_fault(library, "inodes", 0, 41)
        args = (f"--file-num={many}", "--file-total-size=100000", "--file-block-size=1")
        done = run("fileio", *args, "prepare", cwd=tmp_path, env=fault)
        assert done.status == status, done
        if status:
            need = f"FATAL: {int(many) - 1} files have to be made, but the file system of '.' can"
            assert f"{need} hold only 41 more: lower --file-num or use --file-dir\n" in done.err
            assert contents(tmp_path) == {"test_file.7": 0}


def test_prepare_where_only_root_has_room(tmp_path, library):
    """Root may use the blocks that are kept for it; nobody else may."""
    done = fileio(tmp_path, "prepare", env=with_fault(library, "reserve", 0, 1))
    assert done.status == (0 if os.geteuid() == 0 else 1), done
    if done.status:
        assert "the file system of '.' has 0B left" in done.err


def test_prepare_where_the_size_is_not_known(tmp_path, library):
    """A file system that reports no blocks is tried."""
    done = fileio(tmp_path, "prepare", env=with_fault(library, "sizeless", 0, 1))
    assert done.status == 0, done


def test_prepare_in_a_folder_that_is_read_only(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o555)
    done = fileio(folder, "prepare", preexec_fn=without_override)
    assert done.status == 1
    assert "FATAL: Can't open file 'test_file.0' errno = 13 (Permission denied)\n" in done.err
    assert contents(folder) == {}


def test_prepare_in_a_folder_that_becomes_read_only(tmp_path):
    """The second file cannot be made: the first one goes as well."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "test_file.1").write_bytes(b"x" * 100)
    (folder / "test_file.1").chmod(0o400)
    done = fileio(folder, "prepare", preexec_fn=without_override)
    assert done.status == 1
    assert "FATAL: Can't open file 'test_file.1' errno = 13 (Permission denied)\n" in done.err
    assert "old size" not in done.err
    assert contents(folder) == {"test_file.1": 100}


def test_names_that_lead_elsewhere(tmp_path, library):
    """To a disk with other room; a failure leaves them, and takes the files there with it."""
    folder, other = tmp_path / "folder", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (folder / "test_file.1").symlink_to("../other/file")
    done = fileio(folder, "prepare", env=with_fault(library, "pwrite", 2, errno.EIO))
    assert done.status == 1
    assert "FATAL: Failed to write file! file: 2 pos: 0 errno = 5" in done.err
    assert os.listdir(folder) == ["test_file.1"] and os.listdir(other) == []
    (folder / "test_file.2").symlink_to("../nowhere/file")
    done = fileio(folder, "prepare")
    assert done.status == 1
    assert "FATAL: Can't open file 'test_file.2' errno = 2 (No such file or directory)" in done.err
    assert sorted(os.listdir(folder)) == ["test_file.1", "test_file.2"]
    assert os.listdir(other) == []
    (tmp_path / "nowhere").mkdir()
    # One file is to be made in the folder itself, and there is room for one.
    fault = with_fault(library, "inodes", 0, 1)
    assert fileio(folder, "prepare", env=fault).status == 0
    assert contents(folder) == {f"test_file.{i}": FILE for i in range(FILES)}
    assert contents(other) == {"file": FILE}


ALIEN = (": it leads through a symbolic link that is another user's or has a second name, or through too many links; "
         "remove it, or use another --file-dir\n")
HARD = ": it is a hard link, and the file's other names would change too; remove it, or use another --file-dir\n"


def refused_everywhere(folder, name, why):
    """Nothing is made, and no test that writes over what is there writes."""
    done = fileio(folder, "prepare")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert f"FATAL: Can't open file '{name}' errno = " in done.err and why in done.err
    for mode in ("seqrewr", "rndwr", "rndrw"):
        done = fileio(folder, f"--file-test-mode={mode}", "--events=5", "run")
        assert done.status == 1, done
        assert f"FATAL: Cannot open file '{name}' errno = " in done.err
        assert f"'{name}'{why}" in done.err


@pytest.mark.sanitized
def test_hard_links_are_not_written(tmp_path):
    folder, other = tmp_path / "folder", tmp_path / "other"
    folder.mkdir()
    assert fileio(folder, "prepare").status == 0
    (folder / "test_file.1").rename(other)
    (folder / "test_file.1").hardlink_to(other)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused_everywhere(folder, "test_file.1", HARD)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert fileio(folder, "--file-test-mode=rndrd", "--events=5", "run").status == 0
    (folder / "test_file.0").unlink()
    (folder / "test_file.2").unlink()
    assert fileio(folder, "prepare").status == 1
    assert os.listdir(folder) == ["test_file.1"]
    # A test that makes its files anew takes the name and leaves the file.
    assert fileio(folder, "--file-test-mode=seqwr", "--events=5", "run").status == 0
    assert (folder / "test_file.1").stat().st_nlink == 1
    assert other.read_bytes() == before["test_file.1"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give links away")
def test_links_of_others_are_not_followed(tmp_path):
    folder, other = tmp_path / "folder", tmp_path / "other"
    folder.mkdir()
    other.write_bytes(b"x" * FILE)
    (folder / "test_file.1").symlink_to("../other")
    assert fileio(folder, "prepare").status == 0  # one's own leads on
    written = other.read_bytes()
    os.lchown(folder / "test_file.1", 12345, 23456)
    refused_everywhere(folder, "test_file.1", ALIEN)
    assert other.read_bytes() == written
    done = fileio(folder, "--file-test-mode=rndrd", "--events=5", "run")
    assert done.status == 0, done
    other.unlink()
    assert fileio(folder, "prepare").status == 1
    assert not other.exists()


def test_links_that_lead_nowhere_are_not_called_those_of_others(tmp_path):
    """Links that lead to each other are the user's own: the sentence names every cause of ELOOP."""
    assert fileio(tmp_path, "prepare").status == 0
    (tmp_path / "test_file.1").unlink()
    (tmp_path / "test_file.1").symlink_to("loop")
    (tmp_path / "loop").symlink_to("test_file.1")
    refused_everywhere(tmp_path, "test_file.1", ALIEN)


def test_names_that_are_no_files(tmp_path):
    """Refused before anything is made."""
    (tmp_path / "test_file.2").symlink_to("/dev/null")
    for other in ("/dev/null", None):
        done = fileio(tmp_path, "prepare")
        assert done.status == 1
        what = "it has 0B, but 128KiB are needed\n" if other else "it has "
        said = f"FATAL: 'test_file.{2 if other else 1}' is too small, and is not a regular file that can be extended"
        assert f"{said}: {what}" in done.err
        assert done.err.count("\n") == 1
        if other:
            (tmp_path / "test_file.1").mkdir()
    assert sorted(contents(tmp_path)) == ["test_file.1", "test_file.2"]
    assert list((tmp_path / "test_file.1").iterdir()) == []


@pytest.fixture(name="device")
def loop_device(tmp_path):
    """A block device of 256 KiB, and the file behind it."""
    image = tmp_path / "image"
    image.write_bytes(b"x" * 262144)
    try:
        name = subprocess.run(
            ["losetup", "-f", "--show", image], capture_output=True, check=True, text=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("there are no loop devices here")
    yield name, image
    subprocess.run(["losetup", "-d", name], check=True)


def test_a_name_that_leads_to_a_device(tmp_path, device):
    """Devices are as long as they are: used, refused if too small, and never filled with zeros."""
    name, image = device
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "test_file.0").symlink_to(name)
    args = ("--file-num=1", "--file-total-size=262144")
    done = run("fileio", *args, "prepare", cwd=folder)
    assert done.status == 0, done
    assert "Reusing existing file test_file.0\nNo bytes written.\n" in done.out
    done = run("fileio", "--file-num=1", "--file-total-size=1M", "prepare", cwd=folder)
    assert done.status == 1
    assert "FATAL: 'test_file.0' is too small, and is not a regular file" in done.err
    assert ": it has 256KiB, but 1MiB are needed\n" in done.err
    for used in ("262144", "131072"):
        sizes = ("--file-num=1", f"--file-total-size={used}")
        done = run("fileio", *sizes, "--file-test-mode=rndrd", "--events=50", "run", cwd=folder)
        assert done.status == 0, done
        assert "files: test_file.0 is the device 7:" in done.err
        assert "in memory" not in done.err and "of which the run uses" not in done.err
    assert run("fileio", *args, "cleanup", cwd=folder).status == 0
    assert contents(folder) == {}
    assert image.read_bytes() == b"x" * 262144


def test_a_device_is_written_before_it_is_read(tmp_path, device):
    """As the message says: cleanup and prepare would go to another disk."""
    folder = tmp_path / "folder"
    folder.mkdir()
    link = folder / "test_file.0"
    link.symlink_to(device[0])
    args = ["fileio", "--file-num=1", "--file-total-size=250000", "--file-block-size=4096"]
    advice = "write the device first by --file-test-mode=seqrewr --file-fsync-freq=0 --time=0 --events=62"
    read = ("--file-test-mode=seqrd", "--events=62")
    done = run(*args, *read, "--validate", "run", cwd=folder)
    assert done.status == 1
    assert done.err.endswith(f": {advice} with --validate and --file-block-size=4096\n")
    wanted = advice.split(" by ")[1].split()
    assert run(*args, *wanted, "--validate", "run", cwd=folder).status == 0
    done = run(*args, *read, "--validate", "run", cwd=folder)
    assert done.status == 0, done
    assert run(*args, *wanted, "--file-compressible=100", "run", cwd=folder).status == 0
    done = run(*args, *read, "run", cwd=folder)
    assert f"an unfinished seqwr do, which storage may answer without a read: {advice}\n" in done.err
    assert run(*args, *wanted, "run", cwd=folder).status == 0
    done = run(*args, *read, "run", cwd=folder)
    assert (done.status, "zeros" in done.err) == (0, False), done
    assert link.is_symlink()


def test_cleanup_in_a_folder_that_is_read_only(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    prepare(folder)
    before = contents(folder)
    folder.chmod(0o555)
    done = fileio(folder, "cleanup", preexec_fn=without_override)
    assert done.status == 1
    assert done.err.count("FATAL: ") == 1
    assert "FATAL: cannot remove 'test_file.0': Permission denied\n" in done.err
    assert contents(folder) == before


def test_prepare_goes_on_where_it_was_interrupted(tmp_path):
    """Held up by a pipe that nobody reads until the signal is there; the second one makes the rest."""
    size, files = 2000 * 4096, 2000
    many = (f"--file-total-size={size}", f"--file-num={files}", "--file-block-size=4K", "prepare")
    with subprocess.Popen(
        [binary(), "fileio", *many],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        pipesize=4096,
    ) as process:
        for line in process.stdout:
            if "test_file.2" in line:
                process.send_signal(signal.SIGINT)
                break
        process.stdout.read()
        assert process.wait(TIMEOUT_S) in (-signal.SIGINT, 128 + signal.SIGINT)
    made = len(contents(tmp_path))
    assert 3 <= made < files
    done = run("fileio", *many, cwd=tmp_path)
    assert done.status == 0, done
    assert made - 1 <= done.out.count("Reusing existing file") + done.out.count("Extending") <= made
    assert done.out.count("Creating file test_file.") >= files - made
    assert contents(tmp_path) == {f"test_file.{i}": size // files for i in range(files)}


# --- run ------------------------------------------------------------------------------------------

# The call that moves data or flushes, by engine.
CALLS = {
    ("sync", "read"): "pread",
    ("sync", "write"): "pwrite",
    ("sync", "fsync"): "fsync",
    ("mmap", "fsync"): "msync",
    **{(engine, verb): "reap" for engine in ASYNC for verb in ("read", "write")},
}


@pytest.mark.parametrize("engine, verb", sorted(CALLS))
def test_device_that_fails(tmp_path, library, engine, verb):
    prepare(tmp_path)
    before = contents(tmp_path)
    args = [f"--file-io-mode={engine}", "--threads=2", "--file-async-backlog=8", "--time=300"]
    args += ["--file-test-mode=" + ("rndrd" if verb == "read" else "rndwr")]
    args += ["--file-fsync-freq=" + ("10" if verb == "fsync" else "0")]
    fault = with_fault(library, CALLS[engine, verb], 50, errno.EIO)
    done = fileio(tmp_path, *args, "run", env=fault, dialect="1.0")
    assert done.status == 1
    assert f"FATAL: Failed to {verb} file! file: " in done.out
    assert f"errno = 5 ({EIO})\n" in done.out
    # One sentence for each thread at most, and the report of what was measured.
    assert 1 <= done.out.count("FATAL: ") <= 2
    assert "General statistics:" in done.out
    assert done.err == ""
    assert contents(tmp_path) == before


@pytest.mark.parametrize("there", (False, True))
def test_creation_on_a_disk_that_fills_up(tmp_path, library, there):
    """seqwr makes the files itself; what was not there before goes again."""
    if there:
        prepare(tmp_path, "--file-num=1")
    names = set(contents(tmp_path))
    fault = with_fault(library, "pwrite", 40, errno.ENOSPC)
    args = ("--file-test-mode=seqwr", "--events=1000", "--file-fsync-freq=0")
    done = fileio(tmp_path, *args, "run", env=fault)
    assert done.status == 1
    assert f"errno = {errno.ENOSPC} ({ENOSPC})\n" in done.err
    assert set(contents(tmp_path)) == names


def test_creation_that_ends_well_leaves_its_files(tmp_path):
    done = fileio(tmp_path, "--file-test-mode=seqwr", "--events=96", "--file-fsync-freq=0", "run")
    assert done.status == 0, done
    assert contents(tmp_path) == {f"test_file.{i}": FILE for i in range(FILES)}


@pytest.mark.parametrize("mode", [m if m in ("rndrd", "seqwr", "rndrw") else slow(m) for m in MODES])
def test_run_in_a_folder_that_is_read_only(tmp_path, mode):
    folder = tmp_path / "folder"
    folder.mkdir()
    prepare(folder)
    for path in folder.iterdir():
        path.chmod(0o400)
    folder.chmod(0o555)
    before = contents(folder)
    args = (f"--file-test-mode={mode}", "--events=20", "run")
    done = fileio(folder, *args, preexec_fn=without_override)
    if mode in WRITING:
        assert done.status == 1
        assert "FATAL: Cannot open file 'test_file.0' errno = 13 (Permission denied)" in done.err
        assert "prepare" not in done.err
    else:
        assert done.status == 0, done
    assert contents(folder) == before


def test_missing_file(tmp_path):
    prepare(tmp_path)
    (tmp_path / "test_file.2").unlink()
    done = fileio(tmp_path, "--file-test-mode=rndrd", "run")
    assert done.status == 1
    assert "FATAL: Cannot open file 'test_file.2' errno = 2 (No such file or directory)" in done.err
    assert done.err.endswith("\nrun 'prepare' first, with the same --file-num\n")


def start(folder, *args, dialect="1.0", env=None):
    """A run whose threads have started, with what it prints read up to there."""
    process = subprocess.Popen(
        [binary(), "fileio", *SIZES, *args, "run"],
        cwd=folder,
        env=environment(dialect, **(env or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    for line in process.stdout:
        if "Threads started" in line:
            break
    return process


@pytest.mark.parametrize("engine", ENGINES)
def test_files_that_vanish_during_the_run(tmp_path, engine):
    """They are open, so nothing is wrong with them, and nobody makes them again."""
    prepare(tmp_path)
    args = ("--file-test-mode=rndrw", f"--file-io-mode={engine}", "--time=1", "--validate")
    prepare(tmp_path, "--validate")
    fileio(tmp_path, "cleanup")
    prepare(tmp_path, "--validate")
    with start(tmp_path, *args) as process:
        for path in tmp_path.iterdir():
            path.unlink()
        out = process.stdout.read()
        assert process.wait(TIMEOUT_S) == 0, out
    assert "FATAL" not in out and "reads/s:" in out
    assert contents(tmp_path) == {}


def test_shrunk_file(tmp_path):
    prepare(tmp_path)
    os.truncate(tmp_path / "test_file.1", 100000)
    for engine in ENGINES:
        done = fileio(tmp_path, "--file-test-mode=rndrd", f"--file-io-mode={engine}", "run")
        assert done.status == 1
        size = "Size of file 'test_file.1' is 97.656KiB, but at least 128KiB is expected."
        assert f"FATAL: {size}" in done.err


@pytest.mark.parametrize("engine, mode", diagonal(ENGINES, ("seqrd", "rndrd")))
def test_file_that_shrinks_while_it_is_read(tmp_path, engine, mode):
    """Mapped files raise SIGBUS then, in every thread."""
    prepare(tmp_path)
    args = (f"--file-test-mode={mode}", f"--file-io-mode={engine}", "--threads=4", "--time=300")
    with start(tmp_path, *args) as process:
        for i in range(FILES):
            os.truncate(tmp_path / f"test_file.{i}", BLOCK)
        out = process.stdout.read()
        assert process.wait(TIMEOUT_S) == 1, out
    assert "FATAL: Failed to read file! file: " in out
    assert f" of {BLOCK} bytes, the file has changed\n" in out
    assert "General statistics:" in out


def test_mapped_file_that_shrinks_while_it_is_written(tmp_path):
    prepare(tmp_path)
    args = ("--file-test-mode=rndwr", "--file-io-mode=mmap", "--threads=4", "--time=300")
    with start(tmp_path, *args, "--file-fsync-freq=0") as process:
        for i in range(FILES):
            os.truncate(tmp_path / f"test_file.{i}", 0)
        out = process.stdout.read()
        assert process.wait(TIMEOUT_S) == 1, out
    assert "FATAL: Failed to write file! file: " in out
    assert f": 0 of {BLOCK} bytes, the file has changed\n" in out
    assert set(contents(tmp_path).values()) == {0}


# A mount of its own also in a chroot, whose root is none; made private first, so that nobody else
# sees what is mounted over it.
MOUNT = """
mount --make-private /dev/shm && mount -t tmpfs -o size=256k none /dev/shm && cd /dev/shm || exit 77
exec "$@"
"""


def on_small_disk(*args, **kwargs):
    """Runs a command in a file system of 256 KiB, which only it sees."""
    how = ["--propagation", "unchanged"] if os.getuid() == 0 else ["-r"]
    command = ["unshare", "-m", *how, "sh", "-c", MOUNT, "sh", *args]
    done = subprocess.run(
        command, **kwargs, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("nothing can be mounted here: " + done.stderr)
    return done


@pytest.mark.parametrize("engine, room", diagonal(ENGINES, (0, 5)))
def test_a_file_system_that_is_full(library, engine, room):
    """For real; that blocks are free means nothing where a quota is used up."""
    args = ["fileio", *SIZES, "--file-test-mode=seqwr", "--file-fsync-freq=0", "--events=96"]
    done = on_small_disk(
        *(binary(), *args, f"--file-io-mode={engine}", "run"),
        env=environment("1.0", **(with_fault(library, "room", 0, room) if room else {})),
    )
    assert done.returncode == 1
    assert done.stdout.count("FATAL: ") == 1
    assert "FATAL: Failed to write file! file: 2 pos: " in done.stdout
    assert f"errno = {errno.ENOSPC} ({ENOSPC})\n" in done.stdout


def test_a_signal_that_somebody_sends_is_not_a_fault(tmp_path):
    prepare(tmp_path)
    with start(tmp_path, "--file-test-mode=rndrd", "--file-io-mode=mmap", "--time=300") as process:
        process.send_signal(signal.SIGBUS)
        process.stdout.read()
        # A sanitizer has a handler of its own and exits.
        assert process.wait(TIMEOUT_S) != 0


def test_a_signal_leaves_out_the_flushes_at_the_end(tmp_path, library):
    """Each would take longer than a run that has got a signal may go without progress."""
    prepare(tmp_path)
    args = ("--file-test-mode=rndwr", "--file-fsync-freq=0", "--file-fsync-mode=fdatasync", "--time=300",
            "--report-interval=0.1", "--report=text", "--report=json:r.json")
    stall = with_fault(library, "stall", 0, 60)
    with start(tmp_path, *args, dialect="own", env=stall) as process:
        assert any("s ] reads: " in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        out = process.stdout.read()
        assert process.wait(TIMEOUT_S) == 130, out
    assert "ending at once" not in out
    assert json.loads((tmp_path / "r.json").read_text())["groups"][0]["total"]["figures"]["other"] == 0


# --- many files -----------------------------------------------------------------------------------


def open_files(soft, hard):
    """For preexec_fn; nobody may raise the hard limit."""

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        without(CAP_SYS_RESOURCE)

    return limit


@pytest.mark.parametrize("mode", ("rndrd", "seqwr"))
def test_too_many_files(tmp_path, mode):
    args = ("--file-num=100000", f"--file-test-mode={mode}", "--threads=3", "run")
    done = run("fileio", *args, cwd=tmp_path, preexec_fn=open_files(256, 4096))
    assert done.status == 1
    assert "FATAL: --file-num=100000 needs 100259 open files, but the hard limit is" in done.err
    assert " is 4096: lower --file-num, or ask root to raise it (ulimit -n 100259, " in done.err
    assert contents(tmp_path) == {}


def test_a_hard_limit_that_is_low_but_enough(tmp_path):
    prepare(tmp_path)
    args = ("--file-test-mode=rndrd", "--events=50", "run")
    done = fileio(tmp_path, *args, preexec_fn=open_files(16, 64))
    assert done.status == 0, done


@pytest.mark.skipif("io_uring" not in ENGINES, reason="there is no io_uring")
def test_rings_are_open_files(tmp_path):
    """One for each thread: the soft limit gives way, the hard one is explained."""
    prepare(tmp_path)
    args = ("--file-test-mode=rndrd", "--file-io-mode=io_uring", "--file-async-backlog=1")
    args += ("--threads=300", "--events=600", "run")
    done = fileio(tmp_path, *args, preexec_fn=open_files(64, 4096))
    assert done.status == 0, done
    done = fileio(tmp_path, *args, preexec_fn=open_files(64, 200))
    assert done.status == 1
    assert "FATAL: no file descriptor is left: each thread needs one for io_uring" in done.err
    assert "raise ulimit -n or lower --threads and --file-num\n" in done.err


@pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2000, reason="the hard limit is in the way"
)
def test_root_raises_the_hard_limit(tmp_path, library):
    """It is said to be 500, and that it may be raised."""
    many = ("--file-num=1000", "--file-total-size=4096000")
    prepare(tmp_path, *many)
    args = (*many, "--file-test-mode=rndrd", "--events=50", "run")
    done = fileio(tmp_path, *args, env=with_fault(library, "nofile", 0, 500))
    assert done.status == 0, done


def test_more_files_than_allowed(tmp_path):
    done = run("fileio", "--file-num=100001", "prepare", cwd=tmp_path)
    assert done.status == 1
    assert done.err == "--file-num=100001: out of range; allowed: 1 to 100000\n"
    assert contents(tmp_path) == {}


def test_many_files_on_a_disk_that_fills_up(tmp_path, library):
    """The 2,000th of 100,000 files is one too many."""
    args = ("--file-num=100000", "--file-total-size=100000", "--file-block-size=1")
    folder = pathlib.Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else tmp_path
    folder = folder / f"bench-many-{os.getpid()}"
    folder.mkdir()
    try:
        fault = with_fault(library, "pwrite", 1999, errno.ENOSPC)
        done = run("fileio", *args, "prepare", cwd=folder, env=fault)
        assert done.status == 1
        assert f"FATAL: Failed to write file! file: 1999 pos: 0 errno = {errno.ENOSPC}" in done.err
        assert contents(folder) == {}
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


@pytest.mark.skipif("io_uring" not in ENGINES, reason="there is no io_uring")
def test_deadlines_of_old_kernels(tmp_path, library):
    """Before 5.11 the library's own timeouts complete among the requests."""
    prepare(tmp_path)
    args = ("--file-io-mode=io_uring", "--file-test-mode=rndrd", "--rate=2000", "--events=300")
    done = fileio(tmp_path, *args, "run", env=with_fault(library, "ring", 0, 1), dialect="1.0")
    assert done.status == 0, done
    assert "total number of events:              300\n" in done.out
