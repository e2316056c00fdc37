# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of fileio share: the engines that work here, small files, faults."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from bench import binary, run, source_root

MODES = ("seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw")
READING = ("seqrd", "rndrd", "rndrw")
WRITING = ("seqwr", "seqrewr", "rndwr", "rndrw")
FILES, TOTAL, BLOCK = 3, 384 * 1024, 4096
SIZES = (f"--file-num={FILES}", f"--file-total-size={TOTAL}", f"--file-block-size={BLOCK}")


def refused_uring():
    try:
        return pathlib.Path("/proc/sys/kernel/io_uring_disabled").read_text().strip() == "2"
    except OSError:
        return False


def modules():
    return pathlib.Path(binary()).resolve().parent.parent / "lib" / "bench" / "engines"


def engines():
    """The engines of this build that this machine allows."""
    found = ["sync", "mmap"]
    if (modules() / "async.so").exists():
        found.append("async")
    if (modules() / "io_uring.so").exists() and not refused_uring():
        found.append("io_uring")
    return found


ENGINES = engines()
ASYNC = [e for e in ENGINES if e in ("async", "io_uring")]


def memory_folder():
    """A folder whose flushes cost nothing, or None."""
    if not os.access("/dev/shm", os.W_OK):
        return None
    return pathlib.Path(tempfile.mkdtemp(prefix="bench-fileio-", dir="/dev/shm"))


def fileio(folder, *args, **kwargs):
    return run("fileio", *SIZES, *args, cwd=folder, **kwargs)


def prepare(folder, *args):
    done = fileio(folder, *args, "prepare")
    assert done.status == 0, done
    return done


def flip(path, offset):
    with open(path, "r+b") as f:
        f.seek(offset)
        byte = f.read(1)[0]
        f.seek(offset)
        f.write(bytes([byte ^ 1]))


def contents(folder):
    """Everything in the folder, with sizes: what a failure must leave as it was."""
    return {p.name: p.stat().st_size for p in folder.iterdir()}


def build_faults(folder):
    """The library that makes calls fail, to be preloaded."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    library = folder / "faults.so"
    # Linked with the libraries, because the modules' own copies are out of its sight.
    with_engines = [
        flag
        for name, flags in (("async", "-DWITH_AIO -laio"), ("io_uring", "-DWITH_URING -luring"))
        if (modules() / f"{name}.so").exists()
        for flag in flags.split()
    ]
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-Wl,--no-as-needed", "-o", library]
        + [source_root() / "tests" / "cli" / "fileio_faults.c", *with_engines, "-ldl"],
        check=True,
    )
    return library


def with_fault(library, call, after, error):
    """Environment in which that call fails with error after so many successes."""
    return {
        "LD_PRELOAD": str(library),
        "FAULT": f"{call} {after} {error}",
        # The sanitizer's own interceptors come second, which it would complain about.
        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0",
    }
