# SPDX-License-Identifier: GPL-2.0-or-later
"""What fileio writes: storage that compresses or looks for equal blocks must not get less work.

The kinds of faults: zeros, one block written again and again, a part of the files that keeps zeros
(an extension, the end of a file, a block that is no multiple of anything), a second run that writes
what is there, and checksums that are looked for in files which never had them."""

import json
import zlib

import pytest

from files import BLOCK, ENGINES, READING, TOTAL, WRITING
from files import fileio, flip, prepare
from gate import diagonal


def contents(folder):
    return [path.read_bytes() for path in sorted(folder.glob("test_file.*"))]


def facts_of(path):
    return json.loads(path.read_text())["facts"]["files"]


def share(data):
    """What a compressor leaves of the data."""
    return len(zlib.compress(data, 6)) / len(data)


def repeated(data, unit=512):
    """Blocks of which an equal one stands before."""
    blocks = [data[at : at + unit] for at in range(0, len(data), unit)]
    return len(blocks) - len(set(blocks))


def assert_dense(folder):
    for data in contents(folder):
        assert share(data) > 0.999
    assert repeated(b"".join(contents(folder))) == 0


def test_prepare_writes_what_does_not_compress(tmp_path):
    prepare(tmp_path, "--file-total-size=192K")
    assert_dense(tmp_path)
    # Longer, and of a size that is no multiple of the block.
    fileio(tmp_path, f"--file-total-size={TOTAL + 3000}", "--file-block-size=1000", "prepare")
    assert_dense(tmp_path)


@pytest.mark.parametrize("engine, mode", diagonal(ENGINES, WRITING))
def test_run_writes_what_does_not_compress(tmp_path, engine, mode):
    """Over files of zeros: what was written is dense, and no two writes are equal."""
    if mode != "seqwr":
        prepare(tmp_path, "--file-compressible=100")
    done = fileio(tmp_path, f"--file-test-mode={mode}", f"--file-io-mode={engine}", "--threads=2",
                  "--file-async-backlog=4", "--time=0", f"--events={TOTAL // BLOCK}",
                  "--report=json:json", "run")
    assert done.status == 0, done
    data = b"".join(contents(tmp_path))
    blocks = [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]
    written = [b for b in blocks if any(b)]
    assert len(written) > len(blocks) // 8
    assert len(set(written)) == len(written)
    assert share(b"".join(written)) > 0.999
    assert facts_of(tmp_path / "json")["data_written"] == "random"


@pytest.mark.parametrize("percent", (0, 25, 50, 99, 100))
def test_the_share_that_compresses(tmp_path, percent):
    prepare(tmp_path, f"--file-compressible={percent}")
    done = fileio(tmp_path, f"--file-compressible={percent}", "--file-test-mode=rndwr", "--time=0",
                  "--events=100", "--report=json:json", "run")
    assert done.status == 0, done
    for data in contents(tmp_path):
        for at in range(0, len(data), 4096):
            # A random byte is a zero once in 256.
            zeros = data[at : at + 4096].count(0) / 4096
            assert abs(zeros - percent / 100) < 0.02, at
    facts = facts_of(tmp_path / "json")
    assert facts["data_written"] == (f"{percent}% zeros" if percent else "random")


@pytest.mark.parametrize("dialect", ("0.5", "1.0", "1.1"))
def test_dialects_write_zeros_unless_told(tmp_path, dialect):
    assert fileio(tmp_path, "prepare", dialect=dialect).status == 0
    assert not any(any(data) for data in contents(tmp_path))
    run = ("--file-test-mode=rndwr", "--time=0", "--events=20", "run")
    assert fileio(tmp_path, *run, dialect=dialect).status == 0
    assert not any(any(data) for data in contents(tmp_path))
    assert fileio(tmp_path, "--file-compressible=0", *run, dialect=dialect).status == 0
    assert any(any(data) for data in contents(tmp_path))


def test_a_repeated_run_does_not_write_what_is_there(tmp_path):
    def data():
        done = fileio(tmp_path, "--file-test-mode=seqwr", "--rand-seed=7", "run")
        assert done.status == 0, done
        return b"".join(contents(tmp_path))

    assert repeated(data() + data()) == 0


@pytest.mark.parametrize("mode", READING)
def test_files_of_zeros_are_told(tmp_path, mode):
    prepare(tmp_path, "--file-compressible=100")
    args = (f"--file-test-mode={mode}", "--time=0", "--events=5", "--report=json:json", "run")
    done = fileio(tmp_path, *args)
    assert done.status == 0 and "the files hold zeros" in done.err
    assert facts_of(tmp_path / "json")["data_read"] == "zeros"
    done = fileio(tmp_path, "--file-compressible=100", *args)
    assert done.status == 0 and "zeros" not in done.err


@pytest.mark.parametrize("block", ["1024", "4096"])
def test_files_that_compress_are_no_zeros(tmp_path, block):
    """Zeros are at the end of each 4 KiB."""
    prepare(tmp_path, "--file-compressible=75")
    done = fileio(tmp_path, "--file-test-mode=rndrd", "--time=0", "--events=5", f"--file-block-size={block}", "run")
    assert (done.status, "zeros" in done.err) == (0, False), done


def test_what_an_unfinished_run_has_not_written_is_told(tmp_path):
    """mmap sets the size of all files before it writes, so that no size tells of the rest."""
    args = ("--file-io-mode=mmap", "--time=0", "--events=5", "run")
    assert fileio(tmp_path, "--file-test-mode=seqwr", *args).status == 0
    done = fileio(tmp_path, "--file-test-mode=rndrd", *args)
    assert done.status == 0 and "the files hold zeros" in done.err


# --- checksums that were never there ---------------------------------------------------------------


@pytest.mark.parametrize("mode, engine", diagonal(READING, ENGINES))
@pytest.mark.parametrize("how", (("--file-compressible=100",), (), ("--validate", "--file-block-size=8000")))
def test_files_without_checksums_are_told_before_the_run(tmp_path, mode, engine, how):
    prepare(tmp_path, *how)
    done = fileio(tmp_path, "--validate", f"--file-test-mode={mode}", f"--file-io-mode={engine}",
                  "--time=0", "--events=50", "run")
    assert done.status == 1
    assert ("FATAL: the files have no checksums: run 'cleanup', then 'prepare' with --validate and "
            f"--file-block-size={BLOCK}\n") in done.err
    assert "mismatch" not in done.err


@pytest.mark.parametrize("mode", [mode for mode in WRITING if mode not in READING])
def test_who_only_writes_needs_no_checksums(tmp_path, mode):
    prepare(tmp_path)
    done = fileio(tmp_path, "--validate", f"--file-test-mode={mode}", "--time=0", "--events=20", "run")
    assert done.status == 0, done


def test_a_damaged_first_block_is_damage(tmp_path):
    prepare(tmp_path, "--validate")
    flip(tmp_path / "test_file.0", 7)
    done = fileio(tmp_path, "--validate", "--file-test-mode=seqrd", "--time=0", "--events=1", "run")
    assert done.status == 1
    assert "Validation failed on file 0, block offset 0, exiting..." in done.err
