# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows what --watch adds to reports and documents, and that what cannot be watched costs one line."""

import json
import os
import re
import time

import pytest

import bench

CPU = ["cpu", "--cpu-max-prime=1000"]
FILES = ["fileio", "--file-num=2", "--file-total-size=4M", "--file-test-mode=rndwr"]
SHARES = [f"host_{kind}_percent"
          for kind in ("user", "nice", "system", "irq", "softirq", "iowait", "steal", "idle")]


def document(folder):
    return json.loads((folder / "json").read_text())["groups"][0]


def row_of(folder):
    """The row of the folder's device in /proc/diskstats, or None."""
    st = os.stat(folder)
    numbers = [str(os.major(st.st_dev)), str(os.minor(st.st_dev))]
    with open("/proc/diskstats") as rows:
        found = [row.split() for row in rows if row.split()[:2] == numbers]
    return [int(field) for field in found[0][3:]] if found else None


@pytest.mark.threads
def test_host(tmp_path):
    """Shares add up to 100, intervals have them too, and `report` prints what the run printed."""
    got = bench.run(*CPU, "--time=0.6", "--report-interval=0.2", "--watch=host", "--watch-lines",
                    "--report=text:text", "--report=json:json", "run", cwd=tmp_path)
    assert (got.status, got.err) == (0, "")
    text = (tmp_path / "text").read_text()
    group = document(tmp_path)
    records = [group["total"], *group["intervals"]]
    # An interval after a late one may be shorter than the kernel's tick, and has no shares then.
    assert sum(SHARES[0] in record["watch"] for record in records) >= 2
    for watch in [record["watch"] for record in records]:
        known = [watch[name] for name in SHARES if name in watch]
        assert (len(known), sum(known)) in ((len(SHARES), pytest.approx(100)), (0, 0))
        assert watch["host_context_switches_per_s"] > 0
        assert watch["host_memory_available_bytes"] > 1 << 20
        assert not [name for name in watch if not name.startswith("host_")]
    user, nice, system = (group["total"]["watch"][name] for name in SHARES[:3])
    assert f"\nWatched:\n    processors user/nice/system (%):     {user:.2f}/{nice:.2f}/{system:.2f}\n" in text
    lines = re.findall(r"^\[ \d\.\ds \] host: user/nice/system % ", text, re.M)
    assert len(group["intervals"]) >= len(lines) >= 1
    assert bench.run("report", "json", cwd=tmp_path).out == text


def test_device(tmp_path):
    """The bytes are those of the kernel's row; a folder without a device is told of."""
    assert bench.run(*FILES, "prepare", cwd=tmp_path).status == 0
    before, begun = row_of(tmp_path), time.monotonic()
    got = bench.run(*FILES, "--file-extra-flags=dsync", "--time=0.5", "--watch=device", "--report=text:text",
                    "--report=json:json", "run", cwd=tmp_path)
    after, took = row_of(tmp_path), time.monotonic() - begun
    total = document(tmp_path)["total"]
    if before is None:
        assert re.fullmatch(r"--watch=device: no device is watched: .*\n", got.err)
        assert "watch" not in total
        return
    assert (got.status, got.err) == (0, "")
    watch, span = total["watch"], total["figures"]["span_s"]
    written = watch["device_written_bytes_per_s"] * span
    assert total["figures"]["bytes_written"] * 0.5 < written <= (after[6] - before[6]) * 512 * 1.5
    assert 0 < watch["device_utilization_percent"] <= 150 and took >= span
    assert watch["device_writes_per_s"] * span <= (after[4] - before[4]) * 1.1
    assert not [name for name in watch if not name.startswith("device_")]
    assert "    device utilization (%):" in (tmp_path / "text").read_text()


@pytest.mark.slow
def test_warmup_does_not_count(tmp_path):
    """The readings begin anew when the measurement does."""
    got = bench.run(*CPU, "--time=0.3", "--warmup-time=0.3", "--watch=host", "run", cwd=tmp_path)
    assert (got.status, got.err) == (0, "")
    assert got.out.count("Watched:") == 1


def test_refusals_cost_one_line(tmp_path):
    got = bench.run(*CPU, "--time=0.2", "--watch=device,host", "run", cwd=tmp_path)
    assert got.status == 0
    assert got.err == ("--watch=device: no device is watched: this test makes no files "
                       "(fileio and tests of databases do)\n")
    assert "    processors user/nice/system (%):" in got.out and "device utilization" not in got.out


@pytest.mark.slow
def test_tests_without_a_database_have_no_server(tmp_path):
    got = bench.run(*CPU, "--time=0.2", "--watch=server", "run", cwd=tmp_path)
    assert (got.status, got.err) == (0, "--watch=server: no server is watched: this test uses no database\n")
    assert "Watched" not in got.out


@pytest.mark.slow
def test_names_are_taken_once(tmp_path):
    got = bench.run(*CPU, "--time=0.2", "--watch=host,host", "--watch=host", "run", cwd=tmp_path)
    assert (got.status, got.err) == (0, "")
    assert got.out.count("processors user/nice/system") == 1


@pytest.mark.skipif(not os.path.ismount("/dev/shm"), reason="no tmpfs in /dev/shm")
@pytest.mark.slow
def test_memory_is_no_device(tmp_path):
    folder = f"/dev/shm/bench-watch-{os.getpid()}"
    os.mkdir(folder)
    try:
        files = [*FILES, f"--file-dir={folder}"]
        assert bench.run(*files, "prepare").status == 0
        got = bench.run(*files, "--time=0.2", "--watch=device", "run", cwd=tmp_path)
        assert got.status == 0 and "Watched" not in got.out
        assert (f"--watch=device: no device is watched: the file system of '{folder}' (tmpfs) has no "
                "block device\n") in got.err
        assert bench.run(*files, "cleanup").status == 0
    finally:
        os.rmdir(folder)


@pytest.mark.slow
def test_sqlite_has_a_device(tmp_path):
    """The folder of its file is the one that is watched."""
    sql = ["oltp_read_write", "--table-size=10", "--db-driver=sqlite", "--sqlite-db=./db"]
    assert bench.run(*sql, "prepare", cwd=tmp_path).status == 0
    got = bench.run(*sql, "--time=0.2", "--watch=device", "run", cwd=tmp_path)
    assert got.status == 0
    if row_of(tmp_path) is None:
        assert re.search(r"^--watch=device: no device is watched: ", got.err, re.M)
    else:
        assert "    device queue length:" in got.out


@pytest.mark.slow
def test_off_by_default(tmp_path):
    got = bench.run(*CPU, "--time=0.2", "--report=text:text", "--report=json:json", "run", cwd=tmp_path)
    assert got.status == 0
    assert "watch" not in document(tmp_path)["total"]
    assert "Watched" not in (tmp_path / "text").read_text()


@pytest.mark.parametrize("dialect", ("1.1", "1.0", "0.5"))
@pytest.mark.slow
def test_texts_of_dialects_stay(tmp_path, dialect):
    """The document has the figures all the same."""
    first = ["--test=cpu"] if dialect == "0.5" else ["cpu"]
    got = bench.run(*first, "--max-time=1" if dialect == "0.5" else "--time=1", "--watch=host", "--watch-lines",
                    "--report=text:text", "--report=json:json", "run", dialect=dialect, cwd=tmp_path)
    assert got.status == 0
    assert "host_user_percent" in document(tmp_path)["total"]["watch"]
    text = (tmp_path / "text").read_text()
    assert "Watched" not in text and "host:" not in text


def test_merging_leaves_it_out(tmp_path):
    for name in ("a", "b"):
        assert bench.run(*CPU, "--time=0.2", "--watch=host", f"--report=json:{name}", "run", cwd=tmp_path).status == 0
    got = bench.run("merge", "--force", "-o", "json", "a", "b", cwd=tmp_path)
    assert got.status == 0, got.err
    assert "the result has no figures of --watch: they are of each host\n" in got.err
    assert "watch" not in document(tmp_path)["total"]
    got = bench.run("merge", "-o", "one", "a", cwd=tmp_path)
    assert got.status == 0, got.err
    assert "host_user_percent" in json.loads((tmp_path / "one").read_text())["groups"][0]["total"]["watch"]


@pytest.mark.sanitized
def test_documents_of_others(tmp_path):
    """Of a document from a file, only figures with known names are printed; values are numbers."""
    assert bench.run(*CPU, "--time=0.2", "--watch=host", "--report=json:json", "run", cwd=tmp_path).status == 0
    whole = json.loads((tmp_path / "json").read_text())
    total = whole["groups"][0]["total"]
    total["watch"] = {"\x1b[31mred": 1, "host_user_percent": 12.5}
    (tmp_path / "json").write_text(json.dumps(whole))
    got = bench.run("report", "json", cwd=tmp_path)
    assert got.status == 0 and "\x1b" not in got.out
    assert "processors user/nice/system (%):     12.50/-/-\n" in got.out
    total["watch"] = {"host_user_percent": "much"}
    (tmp_path / "json").write_text(json.dumps(whole))
    got = bench.run("report", "json", cwd=tmp_path)
    assert got.status == 1 and "'host_user_percent'" in got.err
    total["watch"] = {f"n{i}": i for i in range(5000)}
    (tmp_path / "json").write_text(json.dumps(whole))
    got = bench.run("report", "json", cwd=tmp_path)
    assert got.status == 1 and "'watch' has more than" in got.err
