# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that bench history finds a planted shift in a folder of results, keeps different runs apart,
leaves out what is no result, and fails a CI job on a regression."""

import copy
import json
import os
import random
import re

import pytest

import bench

START_NS = 1772323200 * 10**9  # 2026-03-01 00:00 UTC
DAY_NS = 86400 * 10**9
HEADING = "since (UTC) runs before after difference verdict p first run"


def history(*args, **kwargs):
    return bench.run("history", *args, **kwargs)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A document of a short run."""
    folder = tmp_path_factory.mktemp("template")
    bench.run("cpu", "--events=20", "--time=0", "--cpu-max-prime=300", "--threads=2",
              "--rand-seed=1", "--report=json:a.json", "run", cwd=folder)
    return json.loads((folder / "a.json").read_text())


def total_of(document):
    return document["groups"][0]["total"]


def set_option(document, name, value):
    option = [o for o in document["facts"]["options"] if o["name"] == name][0]
    option.update(value=value, origin="command line")


def make_run(template, day, rate, **facts):
    document = copy.deepcopy(template)
    document["facts"]["times"]["start_wall_ns"] = START_NS + int(day * DAY_NS)
    total_of(document)["figures"]["events_per_s"] = rate
    total_of(document)["figures"]["avg_s"] = 10 / rate
    for section, values in facts.items():
        document["facts"][section].update(values)
    return document


def save(folder, name, document):
    folder.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(json.dumps(document))


def rates(seed, n, at=None, by=0.95, noise=0.01):
    """n rates with a shift from the run `at` on."""
    rng = random.Random(seed)
    return [1000 * (by if at is not None and i >= at else 1) * (1 + noise * rng.gauss(0, 1))
            for i in range(n)]


def make_folder(folder, template, values, name="run-{:03}.json"):
    for day, value in enumerate(values):
        save(folder, name.format(day), make_run(template, day, value))
    return folder


def words(text):
    return [" ".join(line.split()) for line in text.split("\n")]


@pytest.fixture(scope="module")
def shifted(tmp_path_factory, template):
    """40 runs, slower by 5 % from run 30 on, with another version of bench."""
    folder = make_folder(tmp_path_factory.mktemp("shifted") / "results", template, rates(1, 30))
    for day, value in enumerate(rates(2, 10, at=0), 30):
        save(folder, f"run-{day:03}.json",
             make_run(template, day, value, program={"version": "9.9"}))
    return folder


# --- change points --------------------------------------------------------------------------------


def test_a_shift_is_shown_with_its_run(shifted):
    done = history("results", cwd=shifted.parent)
    assert (done.err, done.status) == ("", 0)
    lines = words(done.out)
    assert lines[0] == "cpu: 40 runs, 2026-03-01 00:00 to 2026-04-09 00:00 UTC"
    assert lines[2:4] == ["rate (1/s):", HEADING]
    row = re.fullmatch(r"2026-03-31 00:00 30\+10 ([\d.]+) ([\d.]+) (-[\d.]+) % worse (0\.\d+) "
                       r"results/run-030\.json", lines[4])
    before, after, difference, p = map(float, row.groups())
    assert before == pytest.approx(1000, rel=0.01) and after == pytest.approx(950, rel=0.01)
    assert difference == pytest.approx((after / before - 1) * 100, abs=0.06) and p <= 0.001
    version = bench.run("--version").out.split()[1]
    assert lines[5:] == [f"2026-03-31 00:00: bench version 9.9, before: {version}", ""]
    assert max(map(len, done.out.split("\n"))) <= 100


def test_the_document_has_all_of_it(shifted):
    done = history("--format=json", "--metric=rate,avg,events", "-o", "h.json", "results",
                   cwd=shifted.parent)
    assert done == ("", "", 0)
    document = json.loads((shifted.parent / "h.json").read_text())
    assert (document["format"], document["version"], document["level"]) == ("bench history", 1,
                                                                           0.001)
    (series,) = document["series"]
    assert (series["test"], series["runs"]) == ("cpu", 40)
    rate, avg, events = series["metrics"]
    values = [total_of(json.loads((shifted / f"run-{i:03}.json").read_text()))["figures"]
              ["events_per_s"] for i in range(40)]
    assert [run["value"] for run in rate["runs"]] == pytest.approx(values)
    assert rate["runs"][7]["file"] == "results/run-007.json"
    assert rate["runs"][7]["start_wall_ns"] == START_NS + 7 * DAY_NS
    (change,) = rate["changes"]
    medians = [(sorted(part)[len(part) // 2 - 1] + sorted(part)[len(part) // 2]) / 2
               for part in (values[:30], values[30:])]
    assert [s["median"] for s in rate["segments"]] == pytest.approx(medians)
    assert [(s["start"], s["runs"]) for s in rate["segments"]] == [(0, 30), (30, 10)]
    assert [change["before"], change["after"]] == pytest.approx(medians)
    assert change["difference_percent"] == pytest.approx((medians[1] / medians[0] - 1) * 100)
    assert (change["start"], change["verdict"]) == (30, "worse")
    assert change["facts"][0]["fact"] == "bench version"
    assert (events["better"], events["changes"]) == ("neither", [])
    assert (avg["unit"], avg["better"]) == ("s", "less")


def test_a_folder_without_a_shift_has_none(tmp_path, template):
    values = rates(3, 40)
    values[20] *= 0.8  # a lone spike
    values[39] *= 1.2
    make_folder(tmp_path / "results", template, values)
    done = history("--fail", "results", cwd=tmp_path)
    assert (done.err, done.status) == ("", 0)
    assert re.search(r"^rate \(1/s\): no change point; median \d+(\.\d+)?, standard deviation "
                     r"\d\.\d+ %$", done.out, re.MULTILINE)


def test_few_runs_show_no_change(tmp_path, template):
    make_folder(tmp_path / "results", template, [1000, 1001] * 7 + [1000])
    done = history("results", cwd=tmp_path)
    assert re.search(r"^rate \(1/s\): no change point \(of fewer than 16 runs, only a large one is found\); median "
                     r"1000, ", done.out, re.MULTILINE)
    make_folder(tmp_path / "more", template, [1000, 1001] * 8)
    assert ": no change point; median" in history("more", cwd=tmp_path).out


def test_labels_say_what_was_new(tmp_path, template):
    """Kind 20 of issue 37: the commit of the first run behind a change; no series of its own."""
    done = bench.run("cpu", *bench.QUICK, "--time=0", "--label=commit=0a1b2c", "--label=branch=a=b, c=d",
                     "--report=json:one.json", "run", cwd=tmp_path)
    assert done.status == 0, done
    labels = json.loads((tmp_path / "one.json").read_text())["facts"]["labels"]
    assert labels == {"commit": "0a1b2c", "branch": "a=b, c=d"}
    (tmp_path / "one.json").unlink()
    for day, rate in enumerate(rates(13, 20, at=12, by=0.5)):
        run = make_run(template, day, rate)
        run["facts"]["labels"] = {"commit": f"c{day:02}", "branch": "main"}
        save(tmp_path, f"{day:02}.json", run)
    done = history(".", cwd=tmp_path)
    assert "label commit c12, before: c11\n" in done.out and "branch" not in done.out, done
    (change,) = json.loads(history("--format=json", ".", cwd=tmp_path).out)["series"][0]["metrics"][0]["changes"]
    assert change["facts"] == [{"fact": "label commit", "before": "c11", "after": "c12"}]
    done = bench.run("compare", "11.json", "12.json", cwd=tmp_path)
    assert "labels commit: c11 in A, c12 in B\n" in done.out, done


@pytest.mark.parametrize("label", ["commit", "=x", "k" * 64 + "=x"])
def test_a_label_has_a_key(label):
    done = bench.run("cpu", *bench.QUICK, f"--label={label}", "run")
    assert (done.status, done.out) == (1, "")
    assert done.err == f"--label={label}: not KEY=VALUE, such as commit=1a2b3c\n"


def test_markdown_is_a_table(shifted):
    done = history("--format=markdown", "results", cwd=shifted.parent)
    lines = done.out.split("\n")
    assert lines[0].startswith("### cpu: 40 runs")
    assert lines[4] == "| " + " | ".join(["since (UTC)", "runs", "before", "after", "difference",
                                          "verdict", "p", "first run"]) + " |"
    assert lines[5] == "|---|---|---:|---:|---:|---|---:|---|"
    assert lines[6].endswith(" | results/run-030.json |")


def test_the_order_is_that_of_the_times(tmp_path, template):
    values = rates(4, 40, at=20)
    make_folder(tmp_path / "results", template, values)
    for i in range(40):
        os.rename(tmp_path / f"results/run-{i:03}.json", tmp_path / f"results/{i * 7 % 40}.json")
    done = history("results", cwd=tmp_path)
    assert re.search(r"2026-03-21 00:00 +20\+20 .*results/20\.json", done.out)
    again = history(*sorted(os.listdir(tmp_path / "results"), reverse=True),
                    cwd=tmp_path / "results")
    assert again.out == done.out.replace("results/", "")


# --- series ---------------------------------------------------------------------------------------


def test_runs_with_other_options_are_another_series(tmp_path, template):
    make_folder(tmp_path / "all", template, rates(5, 30))
    for day, value in enumerate(rates(6, 30, at=15, by=1.1)):
        document = make_run(template, day + 0.5, value)
        set_option(document, "threads", "8")
        save(tmp_path / "all", f"slow-{day:03}.json", document)
    done = history("all", cwd=tmp_path)
    assert (done.err, done.status) == ("", 0)
    two, eight = re.split(r"\n\n(?=cpu )", done.out)
    assert two.startswith("cpu --threads=2: 30 runs") and "no change point" in two
    assert eight.startswith("cpu --threads=8: 30 runs")
    assert re.search(r" 15\+15 .* better .* all/slow-015\.json", eight)
    assert history("--ignore=threads", "all", cwd=tmp_path).out.startswith("cpu: 60 runs")


def test_seeds_and_names_of_reports_make_no_series(tmp_path, template):
    for day, value in enumerate(rates(7, 20)):
        document = make_run(template, day, value)
        set_option(document, "rand-seed", str(day))
        set_option(document, "report", f"json:{day}.json")
        save(tmp_path / "all", f"{day}.json", document)
    assert history("all", cwd=tmp_path).out.startswith("cpu: 20 runs")


@pytest.mark.sanitized
def test_what_is_no_result_is_left_out_and_named(tmp_path, template):
    folder = make_folder(tmp_path / "all", template, rates(8, 20))
    save(folder, "table.json", {"format": "something else"})
    (folder / "broken.json").write_text("")
    (folder / "notes.txt").write_text("{")
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "fifo.json")
    failed = make_run(template, 30, 1)
    failed["end"].update(failed=True, status=1, reason="failure")
    save(folder, "failed.json", failed)
    stopped = make_run(template, 31, 1)
    stopped["end"].update(signo=2, status=130, reason="signal")
    save(folder, "stopped.json", stopped)
    save(folder, "twice.json", make_run(template, 3, 1000))
    odd = make_run(template, 32, 1)
    odd["facts"]["times"]["start_wall_ns"] = 0
    save(folder, "\x1b[31m.json", odd)
    done = history("all", cwd=tmp_path)
    assert done.out.startswith("cpu: 20 runs") and done.status == 0
    assert sorted(re.sub(r"^bench history: left out: ", "", line)
                  for line in done.err.rstrip("\n").split("\n")) == [
        "'all/\\x1b[31m.json' does not say when the run began",
        "'all/broken.json' is not a result of bench: it is empty",
        "'all/failed.json' is the result of a run that failed",
        "'all/stopped.json' is the result of a run that a signal ended",
        "'all/table.json' is not a result of bench: its 'format' is not \"bench result\"",
        "'all/twice.json' is a result of the same run as 'all/run-003.json'",
    ]
    left = json.loads(history("--format=json", "all", cwd=tmp_path).out)["left_out"]
    assert [entry["file"] for entry in left].count("all/failed.json") == 1 and len(left) == 6


def test_a_violated_assertion_is_no_failure_of_the_run(tmp_path, template):
    slow = copy.deepcopy(template)
    slow["end"].update(status=1)
    make_folder(tmp_path / "all", slow, rates(9, 20))
    assert history("all", cwd=tmp_path).out.startswith("cpu: 20 runs")


def test_runs_may_be_in_a_folder_of_their_own(tmp_path, template):
    make_folder(tmp_path / "all/runs", template, rates(10, 10))
    make_folder(tmp_path / "all", template, rates(11, 20)[10:])
    for day in range(10):
        path = tmp_path / f"all/run-{day:03}.json"
        document = json.loads(path.read_text())
        document["facts"]["times"]["start_wall_ns"] += 50 * DAY_NS
        save(path.parent, path.name, document)
    assert history("all", cwd=tmp_path).out.startswith("cpu: 20 runs")


@pytest.mark.parametrize("args, sentence", [
    (["--metric=p99@reed", "all"], "--metric=p99@reed: no run has measured it"),
    (["--ignore=treads", "all"], "--ignore=treads: no run has this option"),
    (["empty"], "'empty': no result of a run that ended normally"),
    (["none"], "cannot open 'none': No such file or directory"),
    (["other.json"], "'other.json' is not a result of bench: its 'format' is not \"bench result\""),
    (["--output=all", "all"], "--output=all: this is a folder; name a file"),
    (["--output=none/x", "all"], "--output=none/x: No such file or directory"),
    (["--format=github", "--metric=events", "all"],
     "--metric=events: neither a larger nor a smaller value is better, so --format=github cannot show it"),
    (["--fail", "--metric=events", "all"],
     "--fail: neither a larger nor a smaller value of 'events' is better; add another --metric"),
    (["--fail-undecided", "all"], "--fail-undecided needs --fail"),
    (["--format=github", "--metric=avg,rate", "all"],
     "--format=github: more is better for 'rate', and less for 'avg'; write a file for each"),
])
def test_what_cannot_be_done_is_refused(tmp_path, template, args, sentence):
    make_folder(tmp_path / "all", template, rates(12, 3))
    (tmp_path / "empty").mkdir()
    save(tmp_path, "other.json", {})
    assert history(*args, cwd=tmp_path) == ("", f"bench history: {sentence}\n", 1)


# --- in CI ----------------------------------------------------------------------------------------


def test_a_new_regression_fails_the_job(shifted):
    done = history("--fail", "results", cwd=shifted.parent)
    assert done.status == 3 and "worse" in done.out
    assert re.fullmatch(r"bench history: regression: rate of cpu is worse since 2026-03-31 00:00 "
                        r"UTC \(results/run-030\.json\): -\d\.\d\d %\n", done.err)
    assert history("--fail", "--fail-within=10", "results", cwd=shifted.parent).status == 3
    assert history("--fail", "--fail-within=9", "results", cwd=shifted.parent).status == 0
    assert history("--fail", "--metric=avg", "results", cwd=shifted.parent).status == 3
    assert history("--fail", "--metric=events,rate", "results", cwd=shifted.parent).status == 3


def test_an_improvement_does_not_fail_the_job(tmp_path, template):
    make_folder(tmp_path / "all", template, rates(13, 40, at=25, by=1.05))
    done = history("--fail", "all", cwd=tmp_path)
    assert done.status == 0 and " better " in done.out
    assert history("--fail", "--metric=avg", "all", cwd=tmp_path).status == 0


def test_a_job_that_cannot_fail_yet_says_so(tmp_path, template):
    """Kind 26 of issue 37: a change point needs 8 runs."""
    make_folder(tmp_path / "all", template, rates(13, 7, at=3, by=0.5))
    done = history("--fail", "all", cwd=tmp_path)
    assert (done.status, done.err) == (
        0, "bench history: --fail: no series has the 8 runs that a change point needs; the longest "
        "has 7\n")
    assert history("--fail", "--fail-undecided", "all", cwd=tmp_path).status == 6
    assert history("all", cwd=tmp_path).err == ""
    make_folder(tmp_path / "more", template, rates(13, 8))
    done = history("--fail", "--fail-undecided", "more", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")


def test_the_action_for_github_reads_the_newest_run(shifted):
    done = history("--format=github", "results", cwd=shifted.parent)
    (entry,) = json.loads(done.out)
    assert set(entry) == {"name", "unit", "value", "range", "extra"}
    assert entry["name"].startswith("cpu --threads=2 ") and entry["name"].endswith(": rate")
    assert "rand-seed" not in entry["name"] and "report" not in entry["name"]
    newest = json.loads((shifted / "run-039.json").read_text())
    assert entry["value"] == pytest.approx(total_of(newest)["figures"]["events_per_s"])
    assert entry["unit"] == "1/s" and re.fullmatch(r"± [\d.]+", entry["range"])
    assert entry["extra"] == "10 run(s) since 2026-03-31 00:00 UTC"
