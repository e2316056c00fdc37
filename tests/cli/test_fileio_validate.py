# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that --validate finds whatever is wrong with a block, and nothing where nothing is wrong.

FILEIO_RUNS is how many random runs are made of the last test (20)."""

import itertools
import os
import random
import re
import shutil
import subprocess

import pytest

from files import BLOCK, ENGINES, FILES, MODES, READING, TOTAL, WRITING, SIZES
from files import fileio, flip, memory_folder, prepare
from bench import run
from gate import diagonal, slow

REFERENCE = "/usr/bin/sysbench"
RUNS = int(os.environ.get("FILEIO_RUNS", "20"))
BLOCKS = TOTAL // BLOCK


@pytest.fixture(name="folder")
def cheap_folder(tmp_path):
    folder = memory_folder()
    yield folder or tmp_path
    if folder:
        shutil.rmtree(folder)


def reading(mode, engine, *args):
    """A run that reads every block: at random as often as it takes, in order once."""
    events = BLOCKS if mode == "seqrd" else BLOCKS * 40
    return [
        "--validate",
        f"--file-test-mode={mode}",
        f"--file-io-mode={engine}",
        # Of rndrw: the block is read before it is written.
        "--file-rw-ratio=1000",
        "--file-fsync-freq=0",
        "--file-async-backlog=8",
        "--threads=2",
        "--time=0",
        f"--events={events}",
        *args,
        "run",
    ]


def assert_found(done, file, block):
    assert done.status == 1, done
    assert f"FATAL: Validation failed on file {file}, block offset {block}, exiting..." in done.err
    assert "the run failed; the report covers what was measured until then\n" in done.err


# Within the block: its first byte, one of the middle, the last random one, checksum, offset.
PLACES = (0, 1234, BLOCK - 13, BLOCK - 12, BLOCK - 9, BLOCK - 8, BLOCK - 1)


@pytest.mark.parametrize("engine, mode", diagonal(ENGINES, READING))
def test_one_flipped_bit(folder, engine, mode):
    prepare(folder, "--validate")
    good = fileio(folder, *reading(mode, engine))
    assert good.status == 0, good
    for place in PLACES:
        prepare(folder, "--validate")
        flip(folder / "test_file.1", 3 * BLOCK + place)
        bad = fileio(folder, *reading(mode, engine))
        assert_found(bad, 1, 3 * BLOCK)
        kind = "Checksum mismatch in block with offset: 12288" if place < BLOCK - 8 else "Offset"
        assert f"FATAL: {kind}" in bad.err
        fileio(folder, "cleanup")


@pytest.mark.parametrize("engine, mode, merged", diagonal(ENGINES, WRITING, (0, 3)))
def test_what_was_written(folder, engine, mode, merged):
    """By more threads than blocks would like: valid, and a bit flipped in it is found by any engine."""
    prepare(folder, "--validate")
    common = ["--validate", "--threads=4", "--file-async-backlog=16", f"--file-io-mode={engine}"]
    common += [f"--file-merged-requests={merged}", "--time=0", f"--file-test-mode={mode}"]
    wrote = fileio(folder, *common, "--events=500", "run")
    assert wrote.status == 0, wrote
    for reader in ENGINES:
        read = fileio(folder, *reading("seqrd", reader))
        assert read.status == 0, read
    flip(folder / "test_file.2", 5 * BLOCK + 77)
    for reader in ENGINES:
        assert_found(fileio(folder, *reading("seqrd", reader)), 2, 5 * BLOCK)


@pytest.mark.sanitized
def test_each_bad_block_is_told(folder):
    """Also where several threads find one each: with its offset, its values and its file."""
    prepare(folder, "--validate")
    for i in range(FILES):
        for at in range(0, TOTAL // FILES, BLOCK):
            flip(folder / f"test_file.{i}", at)
    done = fileio(folder, "--validate", "--file-test-mode=rndrd", "--threads=16", "--time=30", "run")
    told = re.findall(r"FATAL: Checksum mismatch in block with offset: (\d+)\n"
                      r"FATAL:     Calculated value: 0x[0-9a-f]+    Stored value: 0x[0-9a-f]+\n"
                      r"FATAL: Validation failed on file \d, block offset (\d+), exiting...\n", done.err)
    assert done.status == 1 and told != [] and all(one == other for one, other in told), done
    # Two threads that find the same block are told of as one, and counted at the end.
    assert done.err.count("FATAL") == 3 * len(told), done


def test_a_block_in_the_wrong_place(folder):
    prepare(folder, "--validate")
    data = bytearray((folder / "test_file.0").read_bytes())
    data[4096:8192] = data[0:4096]
    (folder / "test_file.0").write_bytes(data)
    done = fileio(folder, *reading("seqrd", "sync"))
    assert_found(done, 0, 4096)
    assert "FATAL: Offset mismatch in block:\n" in done.err
    assert "FATAL:    Actual offset: 4096    Stored offset: 0\n" in done.err


@pytest.mark.skipif(not os.access(REFERENCE, os.X_OK), reason="there is no sysbench to compare with")
def test_the_reference_reads_what_we_wrote_and_the_reverse(folder):
    prepare(folder, "--validate")
    seqrd = ("--validate", "--file-test-mode=seqrd", f"--events={BLOCKS}", "run")
    theirs = subprocess.run(
        [REFERENCE, "fileio", *SIZES, *seqrd], cwd=folder, capture_output=True, check=False
    )
    assert theirs.returncode == 0, theirs.stdout
    fileio(folder, "cleanup")
    subprocess.run(
        [REFERENCE, "fileio", *SIZES, "--validate", "prepare"],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    assert fileio(folder, *seqrd).status == 0


def test_sizes_that_are_no_multiple_of_the_block(tmp_path):
    """Requests never pass the end; with --validate files have whole blocks."""
    uneven = ("--file-total-size=100000", "--file-num=3")
    for extra in ((), ("--validate",)):
        prepare(tmp_path, *uneven, *extra)
        for mode, engine in itertools.product(MODES, ENGINES):
            args = (f"--file-test-mode={mode}", f"--file-io-mode={engine}", "--events=200")
            done = fileio(tmp_path, *uneven, *extra, *args, "--file-async-backlog=4", "run")
            assert done.status == 0, (mode, engine, extra, done)
        fileio(tmp_path, "cleanup")


# --- at random ------------------------------------------------------------------------------------


def draw(rng):
    """(files, their sizes' options, options of the run)."""
    direct = rng.random() < 0.3
    block = rng.choice((4096, 8192, 16384) if direct else (16, 100, 512, 1000, 4096, 4097, 16384))
    files = rng.choice((1, 2, 3, 7, 16))
    blocks = rng.randint(files, 60)
    total = blocks * block + (rng.randint(0, block - 1) if rng.random() < 0.5 else 0)
    sizes = [f"--file-num={files}", f"--file-total-size={total}", f"--file-block-size={block}"]
    flags = [f for f in ("sync", "dsync") if rng.random() < 0.15] + ["direct"] * direct
    mode = rng.choice(MODES)
    args = [
        f"--file-test-mode={mode}",
        f"--file-io-mode={rng.choice(ENGINES)}",
        f"--file-extra-flags={','.join(flags)}",
        f"--threads={rng.choice((1, 2, 5))}",
        f"--file-async-backlog={rng.choice((1, 2, 9, 64))}",
        f"--file-merged-requests={rng.choice((0, 0, 1, 3, 10))}",
        f"--file-fsync-freq={rng.choice((0, 7, 100))}",
        f"--file-fsync-all={rng.choice(('on', 'off', 'off'))}",
        f"--file-fsync-end={rng.choice(('on', 'off'))}",
        f"--file-fsync-mode={rng.choice(('fsync', 'fdatasync'))}",
        f"--file-rw-ratio={rng.choice((0.3, 1, 1.5, 4))}",
        # A mapped file that seqwr has not written to its end is as long as the others, but zero.
        f"--events={500 if mode == 'seqwr' else rng.choice((50, 200, 500))}",
        f"--rand-seed={rng.randint(1, 1 << 30)}",
    ]
    if rng.random() < 0.2:
        args.append("--rate=5000")
    return files, sizes, args


def has_direct(folder):
    try:
        os.close(os.open(folder / "probe", os.O_CREAT | os.O_WRONLY | os.O_DIRECT))
    except OSError:
        return False
    finally:
        (folder / "probe").unlink(missing_ok=True)
    return True


@pytest.mark.parametrize("number", [n if n < 6 else slow(n) for n in range(RUNS)])
def test_random_runs(tmp_path, number):
    """Engines, modes, sizes and flags in any combination: clean stays clean, one bit is found."""
    rng = random.Random(1000 + number)
    files, sizes, args = draw(rng)
    if not has_direct(tmp_path):
        args = [a.replace(",direct", "").replace("=direct", "=") for a in args]
    seqrd = ["--validate", "--file-test-mode=seqrd", f"--file-io-mode={rng.choice(ENGINES)}"]
    seqrd += ["--events=200", "--threads=2", "run"]

    def go(*rest):
        return run("fileio", *sizes, *rest, cwd=tmp_path)

    assert go("--validate", "prepare").status == 0
    done = go("--validate", *args, "run")
    assert done.status == 0, (sizes, args, done)
    assert go(*seqrd).status == 0, (sizes, args, seqrd)
    path = tmp_path / f"test_file.{rng.randrange(files)}"
    flip(path, rng.randrange(path.stat().st_size))
    found = go(*seqrd)
    assert found.status == 1 and "Validation failed on file" in found.err, (sizes, args, found)
