# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that bench compare gives two folders of several sweeps, such as those of two machines,
relative scores: by sweep and in all, with what each side has alone."""

import json
import math

import pytest

import bench
import test_study_compare as made

run = made.run


def at(document, threads):
    """The document as one of a run with so many threads."""
    made.option(document, "threads").update(value=str(threads), origin="command line")
    return document


def write(folder, run, points):
    """A sweep: of each number of threads, runs of these rates relative to the others."""
    (folder / "runs").mkdir(parents=True)
    number = 0
    for threads, factors in points.items():
        for factor in factors:
            number += 1
            document = at(made.scaled(run, factor, number * made.MINUTE_NS), threads)
            (folder / f"runs/{number:04}.json").write_text(json.dumps(document))
    (folder / "table.json").write_text('{"format": "bench sweep table"}')


@pytest.fixture
def sheets(tmp_path, run):
    """Sheets of two machines.  The second has twice the rate of one thread, and peaks earlier."""
    write(tmp_path / "one/cpu", run, {1: (1, 1.1, 0.9), 2: (2,), 16: (4, 4)})
    write(tmp_path / "two/cpu", run, {1: (2, 2, 2), 2: (5,), 16: (4,)})
    write(tmp_path / "one/memory", run, {1: (3,)})
    write(tmp_path / "two/memory", run, {1: (1.5,)})
    write(tmp_path / "one/disk", run, {1: (3,)})
    write(tmp_path / "two/oltp", run, {1: (3,)})
    (tmp_path / "two/notes").mkdir()
    return tmp_path


def scores(folder, *args):
    done = bench.run("compare", "--format=json", "one", "two", *args, cwd=folder)
    assert (done.err, done.status) == ("", 0)
    return json.loads(done.out)


def test_scores_of_sheets(sheets):
    document = scores(sheets)
    assert (document["format"], document["metric"]) == ("bench scores", "rate")
    cpu, memory = document["sweeps"]
    assert (cpu["name"], cpu["points"], cpu["a"], cpu["b"]) == ("cpu", 3, 4000, 5000)
    assert (cpu["best_a"], cpu["best_b"]) == ("threads=16", "threads=2")
    assert (cpu["first"], cpu["last"], cpu["best"]) == (2, 1, 1.25)
    assert cpu["mean"] == pytest.approx((2 * 2.5 * 1) ** (1 / 3))
    assert (memory["name"], memory["best"], memory["best_a"]) == ("memory", 0.5, "")
    assert document["mean"] == pytest.approx(math.sqrt(cpu["mean"] * 0.5))
    assert (document["a"]["only"], document["b"]["only"]) == (["disk"], ["oltp"])


def test_the_spread_is_the_median_of_those_of_points_with_repeats(tmp_path, run):
    write(tmp_path / "one/cpu", run, {1: (1, 1.5, 1.25), 2: (1, 1)})
    write(tmp_path / "two/cpu", run, {1: (1, 1.2, 1.0), 2: (1,)})
    [row] = scores(tmp_path)["sweeps"]
    assert row["spread"] == pytest.approx(0.2)


def test_a_latency_is_better_when_it_is_less(sheets):
    [cpu, memory] = scores(sheets, "--metric=avg")["sweeps"]
    assert (memory["best"], cpu["first"]) == pytest.approx((0.5, 2))
    assert cpu["best_b"] == "threads=2"


@pytest.mark.sanitized
def test_the_table(sheets):
    done = bench.run("compare", "one", "two", cwd=sheets)
    assert (done.err, done.status) == ("", 0)
    assert done.out == """A: one (3 sweeps)
B: two (3 sweeps)

Scores of B relative to A by rate, more than 1 is better:
  sweep   points  best A, 1/s  best B, 1/s  first   best   last   mean  spread, %
  cpu          3         4000         5000  2.000  1.250  1.000  1.710        0.0
  memory       1         3000         1500  0.500  0.500  0.500  0.500          -
only in A: disk
only in B: oltp

Geometric mean of 2 sweeps: 0.925
"""


def test_the_table_in_markdown(sheets):
    done = bench.run("compare", "--format=markdown", "-o", "s.md", "one", "two", cwd=sheets)
    assert (done.out, done.err, done.status) == ("", "", 0)
    text = (sheets / "s.md").read_text()
    assert "| memory | 1 | 3000 | 1500 | 0.500 | 0.500 | 0.500 | 0.500 | - |\n" in text
    assert "\nonly in A: disk\n" in text


def test_what_differs_is_said_once(sheets, run):
    for sweep in ("cpu", "memory"):
        for path in (sheets / f"two/{sweep}/runs").iterdir():
            document = json.loads(path.read_text())
            document["facts"]["host"]["cpu_model"] = "other \x1b[31m"
            path.write_text(json.dumps(document))
    done = bench.run("compare", "one", "two", cwd=sheets)
    assert done.out.count("host cpu_model: ") == 1
    assert "\x1b" not in done.out


def test_failed_runs_do_not_count(sheets):
    for path in (sheets / "two/memory/runs").iterdir():
        document = json.loads(path.read_text())
        document["end"].update(status=1)
        path.write_text(json.dumps(document))
    document = scores(sheets)
    assert [row["points"] for row in document["sweeps"]] == [3, 0]
    assert document["sweeps"][1]["mean"] is None
    assert document["mean"] == pytest.approx(document["sweeps"][0]["mean"])
    done = bench.run("compare", "one", "two", cwd=sheets)
    assert "\n  memory       0            -            -      -      -      -      -          -\n" \
        in done.out
    assert done.out.endswith("\nGeometric mean of 1 sweep: 1.710\n")


def test_without_a_point_in_common(tmp_path, run):
    write(tmp_path / "one/cpu", run, {1: (1,), 2: (1,)})
    write(tmp_path / "two/cpu", run, {4: (1,), 8: (1,)})
    done = bench.run("compare", "one", "two", cwd=tmp_path)
    assert (done.out, done.err, done.status) == (
        "", "bench compare: the sweeps of the two folders have no point in common\n", 1)


@pytest.mark.parametrize("option", ["--fail-on=tps:3%", "--assume-stationary", "--same=5%",
                                    "--secondary=none"])
def test_scores_have_no_verdicts(sheets, option):
    done = bench.run("compare", option, "one", "two", cwd=sheets)
    name = option.split("=")[0]
    assert (done.out, done.err, done.status) == (
        "", f"bench compare: {name}: 'one' and 'two' have several sweeps, which get scores, "
            "not verdicts; name the folder of one sweep on each side\n", 1)


def test_a_sheet_is_not_compared_with_a_result(sheets, run):
    (sheets / "a.json").write_text(json.dumps(run))
    done = bench.run("compare", "one", "a.json", cwd=sheets)
    assert done.status == 1
    assert done.err.startswith("bench compare: only one of 'one' and 'a.json' has several sweeps; ")


@pytest.mark.slow
def test_two_sheets_that_a_sweep_has_made(tmp_path):
    (tmp_path / "two.sweep").write_text(
        'few = "--vary=threads=1,2" cpu --cpu-max-prime=100 --events=20 run\n'
        'more = "--vary=cpu-max-prime=50,100" cpu --events=20 run\n')
    for name in ("one", "two"):
        done = bench.run("sweep", "--from=two.sweep", "--repeat=2", "--time=0", f"--out={name}",
                         cwd=tmp_path)
        assert done.status == 0, done.err
    document = scores(tmp_path)
    assert [(row["name"], row["points"]) for row in document["sweeps"]] == [("few", 2), ("more", 2)]
    assert document["differences"] == [] and document["mean"] > 0
