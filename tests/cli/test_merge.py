# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that bench merge sums results exactly: the percentiles are those of all values together, in
whatever order and however often they are merged. What cannot be summed is refused with a sentence."""

import copy
import fractions
import itertools
import json
import math
import os
import random
import re
import shutil
import subprocess

import pytest

import bench
from documents import ages, counted, highest, histogram, put_histogram
from gate import slow

PROCESSES = 4
APART = "half an interval|the result has 0 interval"
# Two are not merged with themselves: what has been merged already, and counts whose sum is beyond 64 bits.
OLD = [path for path in sorted((bench.source_root() / "tests/store").glob("v1-*.json"))
       if path.stem not in ("v1-merged", "v1-extremes")]


def merge(*args, **kwargs):
    return bench.run("merge", *args, **kwargs)


def run_together(folder, n, *args, dialect="own"):
    """N processes at the same time: [their documents]."""
    running = [
        subprocess.Popen([bench.binary(), *args, f"--report=json:{i}.json", "run"], cwd=folder,
                         env=bench.environment(dialect), stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
        for i in range(n)
    ]
    for process in running:
        process.wait(bench.TIMEOUT_S)
    return [json.loads((folder / f"{i}.json").read_text()) for i in range(n)]


def names(n):
    return [f"{i}.json" for i in range(n)]


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Results of processes that ran together: (folder, [document])."""
    folder = tmp_path_factory.mktemp("parts")
    documents = run_together(folder, PROCESSES, "cpu", "--threads=2", "--time=0.6",
                             "--cpu-max-prime=300", "--percentile=50,95,99,99.9,100",
                             "--report-interval=0.2", "--report-bins=all")
    return folder, documents


def total_of(document):
    return document["groups"][0]["total"]


def merged(folder, files, *args):
    done = merge("--force", *args, *files, cwd=folder)
    assert done.status == 0, done
    return json.loads(done.out)


def percentile(buckets, percent):
    """The value at the position that is rounded up, in seconds."""
    rank = max(1, math.ceil(sum(n for _, n in buckets) * fractions.Fraction(str(percent)) / 100))
    for lowest, n in sorted(buckets):
        rank -= n
        if rank <= 0:
            return highest(lowest) * 1e-9
    raise AssertionError


def pooled(records, name="latency"):
    return [row for record in records for row in histogram(record, name)]


def sum_of(documents, name):
    return sum(total_of(d)["figures"][name] for d in documents)


# --- the figures ----------------------------------------------------------------------------------


def test_percentiles_are_those_of_all_values(parts):
    folder, documents = parts
    total = total_of(merged(folder, names(PROCESSES)))
    buckets = pooled([total_of(d) for d in documents])
    assert counted(total) == sum(n for _, n in buckets)
    least = min(total_of(d)["figures"]["min_s"] for d in documents)
    most = max(total_of(d)["figures"]["max_s"] for d in documents)
    assert (total["figures"]["min_s"], total["figures"]["max_s"]) == (least, most)
    assert [row["percent"] for row in total["percentiles"]] == [50, 95, 99, 99.9, 100]
    for row in total["percentiles"]:
        expected = max(min(percentile(buckets, row["percent"]), most), least)
        assert row["s"] == pytest.approx(expected, rel=1e-12)


def test_counts_add_up_and_rates_are_per_second_of_the_union(parts):
    folder, documents = parts
    document = merged(folder, names(PROCESSES))
    figures, raw = total_of(document)["figures"], total_of(document)["raw"]
    for name in ("events", "in_grace", "transactions", "errors"):
        assert figures[name] == sum_of(documents, name)
    assert figures["events"] == raw["counters"]["events"] > 0
    assert len(raw["sessions"]) == len(total_of(document)["sessions"]) == 2 * PROCESSES
    assert sum(row[0] for row in raw["sessions"]) == figures["events"]
    times = [(document["facts"]["merge"][f"part_{i + 1}_start_wall_ns"],
              document["facts"]["merge"][f"part_{i + 1}_end_wall_ns"]) for i in range(PROCESSES)]
    first, last = min(a for a, _ in times), max(b for _, b in times)
    common = max(0, min(b for _, b in times) - max(a for a, _ in times))
    assert raw["span_ns"] == last - first
    assert figures["span_s"] == pytest.approx((last - first) * 1e-9, rel=1e-12)
    assert document["facts"]["merge"]["overlap"] == pytest.approx(common / (last - first))
    assert document["facts"]["merge"]["union_s"] == figures["span_s"]
    in_span = figures["events"] - figures["in_grace"]
    assert figures["events_per_s"] == pytest.approx(in_span / figures["span_s"], rel=1e-12)
    events = [row[0] for row in raw["sessions"]]
    mean = sum(events) / len(events)
    assert figures["fair_events_avg"] == pytest.approx(mean)
    assert figures["fair_events_dev"] == pytest.approx(
        math.sqrt(sum((n - mean) ** 2 for n in events) / len(events)))


def test_intervals_are_those_of_one_time(parts):
    folder, documents = parts
    group = merged(folder, names(PROCESSES))["groups"][0]
    kept = group["intervals"]
    # Beside other work, runs begin too far apart or have too few intervals.
    assert kept or re.search(APART, merge("--force", *names(PROCESSES), cwd=folder).err)
    for i, record in enumerate(kept):
        records = [d["groups"][0]["intervals"][i] for d in documents]
        buckets = pooled(records)
        assert record["figures"]["events"] == sum(r["figures"]["events"] for r in records)
        assert record["running"] == sum(r["running"] for r in records)
        for row in record["percentiles"]:
            expected = percentile(buckets, row["percent"])
            assert row["s"] == pytest.approx(
                max(min(expected, record["figures"]["max_s"]), record["figures"]["min_s"]))


def test_intervals_without_histograms_have_no_percentile(tmp_path):
    run_together(tmp_path, 2, "cpu", "--time=0.5", "--cpu-max-prime=300", "--report-interval=0.2")
    done = merge("--force", "-o", "all", *names(2), cwd=tmp_path)
    lines = re.findall(r"eps: .*", bench.run("report", "all", cwd=tmp_path).out)
    # Beside other work, runs begin too far apart or have too few intervals.
    assert re.search("have no percentiles" if lines else APART, done.err)
    assert all(re.fullmatch(r"eps: [\d.]+", line) for line in lines)


def test_the_order_makes_no_difference(parts):
    folder, _ = parts
    files = names(PROCESSES)
    wanted = merge("--force", *files, cwd=folder).out
    shuffler = random.Random(7)
    for _ in range(4):
        shuffler.shuffle(files)
        assert merge("--force", *files, cwd=folder).out == wanted


def assert_same_figures(a, b):
    assert a["raw"]["histograms"] == b["raw"]["histograms"]
    assert a["raw"]["counters"] == b["raw"]["counters"]
    for name, value in a["figures"].items():
        assert b["figures"][name] == pytest.approx(value, rel=1e-12), name
    assert [row["s"] for row in a["percentiles"]] == [row["s"] for row in b["percentiles"]]


@pytest.mark.sanitized
def test_merged_results_can_be_merged(parts):
    folder, _ = parts
    files = names(PROCESSES)
    wanted = merged(folder, files)
    assert merge("--force", "-o", "a", *files[:3], cwd=folder).status == 0
    assert merge("--force", "--output", "b", *files[3:], cwd=folder).status == 0
    again = merged(folder, ["b", "a"])
    assert_same_figures(total_of(wanted), total_of(again))
    # The parts are a flat list, and say the same.
    assert again["facts"]["merge"] == wanted["facts"]["merge"]
    assert again["facts"]["merge"]["parts"] == PROCESSES
    assert again["facts"]["rows"] == wanted["facts"]["rows"]
    done = merge("--force", "a", "0.json", cwd=folder)
    twice = "bench merge: 'a' and '0.json' hold the same run, which would count twice\n"
    assert done in (("", twice, 1),
                    ("", twice.replace("'a' and '0.json'", "'0.json' and 'a'"), 1))


def test_one_result_stays_what_it_is(parts):
    folder, documents = parts
    done = merge("0.json", cwd=folder)
    assert (done.err, done.status) == ("", 0)
    document = json.loads(done.out)
    assert document["facts"].pop("merge")["parts"] == 1
    assert document == documents[0]


def test_the_report_prints_it(parts):
    folder, documents = parts
    done = merge("--force", "-o", "all", *names(PROCESSES), cwd=folder)
    assert (done.out, done.status) == ("", 0)
    first = done.err.split("\n")[0].removeprefix("bench merge: merged ")
    text = bench.run("report", "all", cwd=folder).out
    assert f"\nMerged from {first}\n" in text
    assert f"Number of threads: {2 * PROCESSES}\n" in text
    assert "Random numbers from several seeds\n" in text
    assert re.search(rf"total number of events: +{sum_of(documents, 'events')}\n", text)


@pytest.mark.parametrize("dialect, seconds", [("own", 0.3), slow("1.1", 1), slow("1.0", 1)])
def test_statements_of_databases_add_up(dialect, seconds, tmp_path):
    documents = run_together(tmp_path, 3, "oltp_read_write", "--db-driver=null", "--table-size=100",
                             f"--time={seconds}", "--db-debug", dialect=dialect)
    document = merged(tmp_path, names(3))
    figures = total_of(document)["figures"]
    for name in ("reads", "writes", "other", "queries", "transactions"):
        assert figures[name] == sum_of(documents, name) > 0
        spans = [d["figures"]["span_s"] for d in map(total_of, documents)]
        rates = [d["figures"][name + "_per_s"] for d in map(total_of, documents)]
        in_span = sum(map(float.__mul__, spans, rates))
        assert figures[name + "_per_s"] == pytest.approx(in_span / figures["span_s"], rel=1e-9)
    [timing] = [t for t in total_of(document)["timings"] if t["name"] == "sql_execute"]
    buckets = pooled(map(total_of, documents), "sql_execute")
    assert timing["count"] == sum(n for _, n in buckets)
    if dialect == "own":
        assert timing["percentiles"][0]["s"] == pytest.approx(percentile(buckets, 95))
    assert document["facts"]["database"]["driver"] == "null"


def told(document):
    return {(m["level"], m["text"]): (m["wall_ns"], m["times"])
            for m in document["facts"]["messages"]}


def test_messages_of_all_runs_are_kept(tmp_path):
    """Two runs say that their rate could not be kept up, and one of them more."""
    documents = run_together(tmp_path, 2, "cpu", "--time=0.5", "--rate=100000",
                             "--cpu-max-prime=100000")
    documents[1]["facts"]["messages"] += [
        {"wall_ns": 7, "level": "warning", "text": "only here", "times": 3}]
    errors = {"error_classes": {"1062": "duplicate"}, "error_messages": {"1062": "Duplicate"}}
    documents[1]["facts"] |= errors
    same = documents[0]["facts"]["messages"][0]
    documents[1]["facts"]["messages"] += [{**same, "wall_ns": 5, "times": 2}]
    for name, document in zip(names(2), documents):
        (tmp_path / name).write_text(json.dumps(document))
    document = merged(tmp_path, names(2))
    messages = told(document)
    assert messages["warning", "only here"] == (7, 3)
    assert messages[same["level"], same["text"]] == (5, same["times"] + 2)
    assert set(messages) == set(told(documents[0])) | set(told(documents[1]))
    at = [m["wall_ns"] for m in document["facts"]["messages"]]
    assert at == sorted(at) and len(at) == len(messages)
    assert errors.items() <= document["facts"].items()


def test_ages_of_unfinished_events_count(tmp_path):
    documents = run_together(tmp_path, 2, "threads", "--rate=100000", "--time=0.5",
                             "--time-grace=0", "--rate-max-backlog=0", "--percentile=50,99")
    document = merged(tmp_path, names(2))
    total, parts_of = total_of(document), [total_of(d) for d in documents]
    for name in ("unfinished", "due", "started", "finished", "dropped", "backlog"):
        assert total["figures"][name] == sum_of(documents, name), name
    served = total["figures"]["finished"] / total["figures"]["due"]
    assert total["figures"]["served"] == pytest.approx(served)
    assert total["figures"]["oldest_s"] == max(p["figures"]["oldest_s"] for p in parts_of)
    buckets = pooled(parts_of) + [row for p in parts_of for row in ages(p)]
    for row in total["percentiles"]:
        expected = min(percentile(buckets, row["percent"]), total["figures"]["max_s"])
        assert row["s"] == pytest.approx(expected, rel=1e-12)
        assert row["at_least"]
    # 2 if an event was in flight at the limit, 4 if arrivals waited alone.
    statuses = {d["end"]["status"] for d in documents}
    assert statuses <= {2, 4} and document["end"]["status"] == (2 if 2 in statuses else 4)
    lags = [p["figures"]["lag_max_s"] for p in parts_of if p["figures"]["lag_max_s"] is not None]
    assert total["figures"]["lag_max_s"] == max(lags, default=None)


# One of two processes pauses.
TURNS = """
function thread_init() pauses = os.remove("turn") end
function event() if pauses then sysbench.think(0.001) end end
"""


def test_one_that_has_paused_and_one_that_has_not(tmp_path):
    """Documents of one script are of one workload, also if only one of them has a wake-up lag."""
    (tmp_path / "a.lua").write_text(TURNS)
    (tmp_path / "turn").write_text("")
    documents = run_together(tmp_path, 2, "./a.lua", "--time=0.6", "--report-interval=0.2",
                             "--report-bins=all")
    lags = [total_of(d)["raw"]["histograms"].get("wakeup_lag") for d in documents]
    [lag] = [h for h in lags if h is not None]
    for order in (names(2), names(2)[::-1]):
        total = total_of(merged(tmp_path, order))
        assert total["raw"]["histograms"]["wakeup_lag"] == lag
        assert total["figures"]["events"] == sum_of(documents, "events")
        assert total["figures"]["lag_max_s"] == max(total_of(d)["figures"]["lag_max_s"] or 0
                                                   for d in documents)


def test_figures_of_tests_are_summed_or_left_out(tmp_path):
    documents = run_together(tmp_path, 2, "memory", "--memory-oper=latency", "--time=0.5",
                             "--memory-block-size=64K", "--memory-total-size=1T")
    total = total_of(merged(tmp_path, names(2)))
    figures = {row["name"]: row["value"] for row in total["workload"]}
    loads = total["raw"]["counters"]["loads"]
    assert loads == sum(total_of(d)["raw"]["counters"]["loads"] for d in documents)
    assert figures["ns_per_load"] == pytest.approx(total["figures"]["sum_s"] * 1e9 / loads)
    folder = tmp_path / "fileio"
    folder.mkdir()
    files = ["fileio", "--file-num=2", "--file-total-size=1M", "--file-test-mode=rndrd"]
    assert bench.run(*files, "prepare", cwd=folder).status == 0
    documents = run_together(folder, 2, *files, "--time=0.5")
    total = total_of(merged(folder, names(2)))
    figures = {row["name"]: row["value"] for row in total["workload"]}
    assert figures["reads_per_s"] == pytest.approx(total["figures"]["reads_per_s"])
    assert not any(name.startswith("device_") for name in figures)
    assert total["raw"]["counters"]["device_reads"] is None


# --- older documents and journals -----------------------------------------------------------------


def other_seed(document):
    document = copy.deepcopy(document)
    document["facts"]["plan"]["seed"] = "12345678901234567890"
    return document


@pytest.mark.parametrize("path", OLD, ids=[path.stem for path in OLD])
def test_documents_of_every_version_are_merged(path, tmp_path):
    if "journal" in path.stem:
        shutil.copy(path, tmp_path / "one")
        lines = map(json.loads, path.read_text().splitlines())
        lines = [other_seed(line) if "facts" in line else line for line in lines]
        (tmp_path / "two").write_text(
            "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    else:
        document = json.loads(path.read_text())
        (tmp_path / "one").write_text(json.dumps(document))
        (tmp_path / "two").write_text(json.dumps(other_seed(document)))
    done = merge("one", "two", "-o", "both", cwd=tmp_path)
    assert (done.out, done.status) == ("", 0), done
    assert ("'one' is from a run that has not ended" in done.err) == ("journal" in path.stem)
    said = [bench.run("report", name, cwd=tmp_path).err for name in ("one", "both")]
    assert ["is the journal of a run" in err for err in said] == ["journal" in path.stem, False]
    assert ("'both' is from a run that has not ended, or contains such a run: " in said[1]) == ("journal" in path.stem)
    both = json.loads((tmp_path / "both").read_text())
    one = json.loads(bench.run("report", "--format=json", "one", cwd=tmp_path).out)
    for name in ("events", "reads", "writes", "queries", "events_per_s", "sum_s"):
        single = total_of(one)["figures"][name]
        assert total_of(both)["figures"][name] == (None if single is None else pytest.approx(2 * single))
    assert both["end"]["partial"] == one["end"]["partial"]
    assert bench.run("report", "both", cwd=tmp_path).status == 0


# --- the file -------------------------------------------------------------------------------------


def test_a_file_is_replaced_or_stays(parts, tmp_path):
    folder, _ = parts
    (tmp_path / "out").write_text("old")
    assert merge("-o", tmp_path / "out", "0.json", "missing", cwd=folder) == (
        "", "bench merge: cannot open 'missing': No such file or directory\n", 1)
    assert (tmp_path / "out").read_text() == "old"
    assert merge("-o", tmp_path / "out", "0.json", cwd=folder).status == 0
    assert json.loads((tmp_path / "out").read_text())["version"] == 2
    assert os.listdir(tmp_path) == ["out"]
    assert merge("-o-", "0.json", cwd=folder).out == (tmp_path / "out").read_text()
    (tmp_path / "link").symlink_to("out")
    done = merge("-o", tmp_path / "link", "0.json", cwd=folder)
    assert done.err == (f"bench merge: --output={tmp_path}/link: this is a symbolic link; name the "
                        "file that it leads to\n")
    assert bench.run("merge", "-", cwd=folder, stdin=(folder / "0.json").read_text()).status == 0


# --- refusals -------------------------------------------------------------------------------------


@pytest.fixture
def pair(tmp_path):
    """Two small results of the same time, as values to change."""
    done = bench.run("cpu", "--events=40", "--cpu-max-prime=300", "--report=json:one",
                     "--mysql-password=geheim", "run", cwd=tmp_path)
    assert done.status == 0
    one = json.loads((tmp_path / "one").read_text())
    return one, other_seed(one)


def merge_pair(pair, folder, *args):
    (folder / "one").write_text(json.dumps(pair[0]))
    (folder / "two").write_text(json.dumps(pair[1]))
    return merge(*args, "one", "two", cwd=folder)


def option(document, name):
    [row] = [row for row in document["facts"]["options"] if row["name"] == name]
    return row


def test_what_differs_naturally_is_merged(pair, tmp_path):
    for name in ("threads", "mysql-host", "mysql-port", "pgsql-user", "rand-seed", "report"):
        option(pair[1], name)["value"] = "other"
    done = merge_pair(pair, tmp_path)
    assert done.status == 0
    assert "geheim" not in done.out
    assert done.err == (
        "bench merge: merged 2 runs, which took "
        f"{total_of(pair[0])['figures']['span_s']:.4g} s; overlap: 100.0 %\n")
    kept = [row["name"] for row in json.loads(done.out)["facts"]["options"]]
    assert "mysql-host" not in kept and "cpu-max-prime" in kept and "mysql-password" in kept


# What processes of one run may differ in; `merge` of commit 691f68c, which wrote the document, has
# the same list without the options of runs on several hosts and --test, --completion.
FREE = {
    "threads", "rand-seed", "rand-init", "report", "report-interval", "report-checkpoints", "report-bins",
    "verbosity", "quiet", "debug", "config-file", "compat", "sql-trace", "file-dir", "sqlite-db", "histogram",
    "metrics-listen", "metrics-linger", "assert", "abort-on-assert", "watch", "watch-lines", "completion",
    "hosts", "hosts-file", "hosts-shell", "hosts-program", "threads-total", "on-host-loss", "test",
    "mysql-host", "mysql-port", "mysql-socket", "mysql-user", "mysql-password-file", "mysql-password-prompt",
    "mysql-cleartext-password", "mysql-ssl-key", "mysql-ssl-ca", "mysql-ssl-cert", "mysql-defaults-file",
    "pgsql-host", "pgsql-port", "pgsql-user", "pgsql-password-file", "pgsql-password-prompt", "pgsql-service",
    "pgsql-sslrootcert", "pgsql-sslcert", "pgsql-sslkey",
}
BEFORE_TRAITS = bench.source_root() / "tests/store/v1-before-traits.json"


def test_a_document_without_traits_has_those_of_today(tmp_path):
    one = json.loads(BEFORE_TRAITS.read_text())
    two = other_seed(one)
    assert not any("traits" in row for row in one["facts"]["options"])
    for row in two["facts"]["options"]:
        row["value"] = "other"
    done = merge_pair((one, two), tmp_path, "--force")
    assert done.status == 0
    differing = set(re.findall(r"--([a-z0-9_-]+) differs", done.err))
    known = {row["name"] for row in one["facts"]["options"] if not row.get("secret")}
    assert known - differing == FREE & known
    # They are not written, because the program that ran did not know them.
    assert not any("traits" in row for row in json.loads(done.out)["facts"]["options"])


def test_a_document_tells_the_traits_of_its_options(pair, tmp_path):
    for document in pair:
        assert option(document, "mysql-host")["traits"] == ["endpoint"]
        assert option(document, "threads")["traits"] == ["per_host", "added"]
        assert option(document, "cpu-max-prime")["traits"] == []
    # An option of a program that this one does not know, with a trait that it does not know either.
    for i, document in enumerate(pair):
        document["facts"]["options"].append({"name": "strange", "value": str(i), "origin": "command line",
                                             "traits": ["later", "place"]})
    assert merge_pair(pair, tmp_path).status == 0
    for document in pair:
        option(document, "strange")["traits"] = ["later"]
    assert "--strange differs: 0 in 'one', 1 in 'two'" in merge_pair(pair, tmp_path).err


def test_options_that_matter_need_force(pair, tmp_path):
    option(pair[1], "cpu-max-prime")["value"] = "\x1b[2J"
    sentence = r"--cpu-max-prime differs: 300 in 'one', \x1b[2J in 'two'"
    assert merge_pair(pair, tmp_path) == (
        "", f"bench merge: {sentence}; --force merges them anyway\n", 1)
    done = merge_pair(pair, tmp_path, "--force")
    assert done.status == 0 and done.err.startswith(f"bench merge: {sentence}\n")


def test_runs_of_other_times_need_force(pair, tmp_path):
    times = pair[1]["facts"]["times"]
    times["start_wall_ns"] += total_of(pair[0])["raw"]["span_ns"] // 2
    done = merge_pair(pair, tmp_path)
    assert (done.out, done.status) == ("", 1)
    assert re.fullmatch(r"bench merge: the spans of the runs overlap for 33\.3 % of [0-9.]+ s, but "
                        r"rates add up only from 90 % on; --force merges them anyway\n", done.err)
    done = merge_pair(pair, tmp_path, "--force")
    document = json.loads(done.out)
    assert document["facts"]["merge"]["overlap"] == pytest.approx(1 / 3, rel=1e-3)
    times["start_wall_ns"] += 10**12
    document = json.loads(merge_pair(pair, tmp_path, "--force").out)
    spans = 2 * total_of(pair[0])["raw"]["span_ns"]
    assert (document["facts"]["merge"]["overlap"], total_of(document)["raw"]["span_ns"]) == (0, spans)


def later_version(document):
    document["version"] = 3


def other_workload(document):
    document["groups"][0]["name"] = "threads"


def other_metrics(document):
    document["groups"][0]["metrics"].append({"name": "x", "unit": "1", "kind": "counter"})


def other_ranks(document):
    document["facts"]["plan"]["percents"] = [99]


def other_dialect(document):
    document["facts"]["plan"]["own"] = False


def no_total(document):
    document["groups"][0]["total"] = None


@pytest.mark.parametrize("change, why", [
    (later_version, "'two' is not a result of bench: it has version 3, this bench reads versions "
                    "up to 2"),
    (other_workload, "'one' is of the test 'cpu', and 'two' of the test 'threads'"),
    (other_metrics, "'one' and 'two' count different metrics; use the same version of bench "
                    "and the same options for all runs"),
    (other_ranks, "'one' and 'two' have percentiles of different ranks (--percentile)"),
    (other_dialect, "the dialects differ: none in 'one', 1.1 in 'two'"),
    (no_total, "'two' is of a run that measured nothing, or has no totals"),
])
def test_force_does_not_merge_everything(change, why, pair, tmp_path):
    change(pair[1])
    for args in ([], ["--force"]):
        assert merge_pair(pair, tmp_path, *args) == ("", f"bench merge: {why}\n", 1)


def test_a_run_counts_once(pair, tmp_path):
    (tmp_path / "two").write_text(json.dumps(pair[0]))
    os.link(tmp_path / "two", tmp_path / "three")
    for first, second, what in (("one", "one", "are the same file"),
                                ("two", "three", "are the same file"),
                                ("one", "two", "hold the same run")):
        assert merge("--force", first, second, cwd=tmp_path) == (
            "", f"bench merge: '{first}' and '{second}' {what}, which would count twice\n", 1)


# --- documents of others --------------------------------------------------------------------------


def leaves(value, path=()):
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from leaves(member, (*path, i))
    else:
        yield path


ODD = [None, -1, 0, 1e308, -1e308, 2**63 - 1, "18446744073709551614", "x", True, [], {}]


@pytest.mark.parametrize("step", (4, slow(1)))
def test_hostile_numbers_crash_nothing(step, pair, tmp_path):
    """Each number of the total and the times once, with a value that some sum cannot take."""
    places = [p for p in leaves(pair[1]) if p[0] == "groups" and "total" in p or "times" in p or
              "plan" in p]
    for path, value in zip(places[::step], itertools.cycle(ODD)):
        changed = copy.deepcopy(pair[1])
        at = changed
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        done = merge_pair((pair[0], changed), tmp_path, "--force", "-o", "out")
        assert done.status in (0, 1), (path, value, done)
        assert (done.err != "") and done.out == ""
        if done.status == 0:
            assert bench.run("report", "out", cwd=tmp_path).status == 0


@pytest.mark.parametrize("where", ["counters", "histograms", "labels", "figures"])
def test_sums_that_do_not_fit_are_refused(where, pair, tmp_path):
    most = str(2**64 - 2)
    for document in pair:
        total = total_of(document)
        if where == "counters":
            total["raw"]["counters"]["errors"] = most
        elif where == "histograms":
            put_histogram(total, [(1000, most)])
        elif where == "labels":
            total["raw"]["labels"]["errors_by_code"] = [["1213", most]]
        else:
            total["figures"]["unfinished"] = most
    assert merge_pair(pair, tmp_path) == (
        "", "bench merge: the counts of the results do not fit into 64 bits\n", 1)


def test_a_damaged_list_of_parts_is_refused(pair, tmp_path):
    for merged_from in ({"parts": 10**9}, {"parts": -1}, {"parts": "x"}, {"parts": 600}):
        pair[1]["facts"]["merge"] = merged_from
        assert merge_pair(pair, tmp_path) == (
            "", "bench merge: 'two' is a merged result without the list of its runs\n", 1)
