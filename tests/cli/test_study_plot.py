# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that bench plot draws what results have, and that no text in them is a command of gnuplot."""

import copy
import json
import math
import os
import re
import shutil
import struct
import subprocess
import time
import xml.etree.ElementTree

import pytest

import bench
import documents
from gate import diagonal, slow

pytestmark = pytest.mark.skipif(shutil.which("gnuplot") is None, reason="gnuplot is not installed")

SVG = "{http://www.w3.org/2000/svg}"
COLUMNS = 79


def plot(*args, **kwargs):
    return bench.run("plot", *args, **kwargs)


def interval_of(template, number, rate, latency_s):
    record = copy.deepcopy(template)
    figures = record["figures"]
    figures.update(at_s=float(number + 1), events=1000, events_per_s=rate, transactions_per_s=rate,
                   median_s=latency_s, max_s=latency_s * 10)
    record["percentiles"] = [{"percent": 95.0, "s": latency_s * 2, "at_least": False}]
    return record


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A document of a short run with an interval."""
    folder = tmp_path_factory.mktemp("template")
    got = bench.run("cpu", "--time=0.4", "--report-interval=0.1", "--cpu-max-prime=300",
                    "--report=json:t.json", "run", cwd=folder)
    assert got.status == 0
    document = json.loads((folder / "t.json").read_text())
    assert document["groups"][0]["intervals"]
    return document


def document_of(template, rates, latency_s=0.001, own=None, **options):
    """The same run with other intervals, a total rate that is their mean, and other options."""
    document = copy.deepcopy(template)
    group = document["groups"][0]
    first = group["intervals"][0]
    group["intervals"] = [interval_of(first, i, r, latency_s) for i, r in enumerate(rates)]
    if rates:
        group["total"]["figures"]["events_per_s"] = sum(rates) / len(rates)
    for option in document["facts"]["options"]:
        if option["name"] in options:
            option["value"] = options[option["name"]]
    for name, value in (own or {}).items():
        document["facts"]["options"].append({"name": name, "group": "of the script", "value": value,
                                             "origin": "command line"})
    if "threads" in options:
        document["facts"]["plan"]["threads"] = int(options["threads"])
    return document


def save(folder, name, document):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return name


def sweep(folder, template, rates, **more):
    """runs/0001.json, …: for each number of threads its rates."""
    number = 0
    for threads, repeats in rates.items():
        for rate in repeats:
            number += 1
            save(folder, f"runs/{number:04}.json",
                 document_of(template, [rate], threads=str(threads), **more))


def svg(folder, *args):
    """(texts, the root element) of the picture."""
    got = plot("-o", "p.svg", *args, cwd=folder)
    assert got == ("", "", 0)
    root = xml.etree.ElementTree.parse(folder / "p.svg").getroot()
    assert root.find(SVG + "title").text == "bench"
    assert root.tag == SVG + "svg" and root.get("width") == "1280" and root.get("height") == "720"
    return ["".join(t.itertext()).strip() for t in root.iter(SVG + "text")], root


def test_a_run_over_time(tmp_path, template):
    save(tmp_path, "a.json", document_of(template, [1000, 1500, 1200]))
    texts, root = svg(tmp_path, "a.json")
    assert "cpu, 1 thread" in texts
    assert {"Throughput (events/s)", "Latency", "Time (s)", "maximum", "p95", "median"} <= set(texts)
    assert {"0", "0.5k", "1k", "1.5k"} <= set(texts)
    assert re.search(r"bench \d.*UTC", "\n".join(texts))


def test_latencies_of_one_size_have_a_linear_axis(tmp_path, template):
    save(tmp_path, "a.json", document_of(template, [10, 15, 12], 0.001))
    texts, _ = svg(tmp_path, "a.json")
    assert {"0", "2 ms", "10 ms"} <= set(texts)


def test_latencies_that_span_much_have_a_logarithmic_axis(tmp_path, template):
    document = document_of(template, [10, 15, 12], 0.001)
    document["groups"][0]["intervals"][1]["figures"]["max_s"] = 0.5
    save(tmp_path, "a.json", document)
    texts, _ = svg(tmp_path, "a.json")
    marks = [t for t in texts if re.fullmatch(r"\d+ m?s", t)]
    assert marks == [f"{n} ms" for n in (1, 2, 5, 10, 20, 50, 100, 200, 500)]


def test_several_runs_are_named_by_their_files(tmp_path, template):
    for name, rate in (("x/one.json", 100), ("y/one.json", 200), ("z/two.json", 300)):
        save(tmp_path, name, document_of(template, [rate, rate]))
    texts, root = svg(tmp_path, "x/one.json", "y/one.json", "z/two.json")
    assert [t for t in texts if "one" in t or "two" in t] == ["x/one", "y/one", "two"]
    assert "Latency, p95" in texts
    assert {"#0072b2", "#d55e00", "#009e73"} <= {c.replace(" ", "") for c in hex_colours(root)}


def test_several_runs_share_a_percentile_that_few_ask_for(tmp_path, template):
    for name in ("one.json", "two.json"):
        document = document_of(template, [100, 100])
        document["facts"]["plan"]["percents"] = [75.0]
        for record in document["groups"][0]["intervals"]:
            record["percentiles"][0]["percent"] = 75.0
        save(tmp_path, name, document)
    assert "Latency, p75" in svg(tmp_path, "one.json", "two.json")[0]


def hex_colours(root):
    """The colours of lines, which gnuplot writes as "rgb(  0, 114, 178)"."""
    found = set()
    for element in root.iter():
        numbers = re.findall(r"\d+", element.get("stroke") or "")
        if len(numbers) == 3:
            found.add("#" + "".join(f"{int(n):02x}" for n in numbers))
    return found


def points_of(root):
    """The places of the dots of the first colour, in their order."""
    places = []
    for use in root.iter(SVG + "use"):
        place = re.match(r"translate\(([\d.]+),([\d.]+)\)", use.get("transform") or "")
        if place and re.findall(r"\d+", use.get("color") or "") == ["0", "114", "178"]:
            places.append((float(place[1]), float(place[2])))
    return places


def test_the_curve_of_percentiles(tmp_path, template):
    save(tmp_path, "a.json", document_of(template, []))
    total = template["groups"][0]["total"]
    n = documents.counted(total)
    texts, _ = svg(tmp_path, "a.json")
    expected = ["0", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"]
    exact = 2 + int(math.log10(max(n, 10)) + 1e-9)
    assert [t for t in texts if t in expected] == expected[:exact]
    assert {"Latency", "Percentile"} <= set(texts)


def test_the_curve_has_the_percentiles(tmp_path, template):
    """Reads latencies off the picture, by the places of the marks on both axes."""
    save(tmp_path, "a.json", document_of(template, []))
    total = template["groups"][0]["total"]
    buckets = documents.histogram(total) + documents.ages(total)
    n = sum(count for _, count in buckets)
    _, root = svg(tmp_path, "a.json")
    marks = {}
    for group in root.iter(SVG + "g"):
        place = re.match(r"translate\(([\d.]+),([\d.]+)\)", group.get("transform") or "")
        if place and group.find(SVG + "text") is not None:
            marks["".join(group.itertext()).strip()] = float(place[1]), float(place[2])
    unit = {"s": 1, "ms": 1e-3, "µs": 1e-6}
    ys = [(float(t.split()[0]) * unit[t.split()[1]], y) for t, (_, y) in marks.items()
          if re.fullmatch(r"\d+ (s|ms|µs)", t)]
    paths = [p for p in root.iter(SVG + "path") if p.get("d")]
    grid = [float(y) for p in paths if p.get("stroke") == "#dddddd" or
            re.findall(r"\d+", p.get("stroke") or "") == ["221", "221", "221"]
            for y in re.findall(r"[\d.]+,([\d.]+)", p.get("d"))]
    # The place of a text is a few pixels below that of its line.
    (low, y_low), (high, y_high) = [(v, min(grid, key=lambda g: abs(y - 5 - g)))
                                    for v, y in (min(ys), max(ys))]
    curve = next(p for p in paths if p.get("d").count("L") > 20)
    steps = [tuple(map(float, p)) for p in re.findall(r"([\d.]+),([\d.]+)", curve.get("d"))]
    logarithmic = "0" not in {t for t, place in marks.items() if place[0] < 108}
    assert logarithmic
    for rank, place in (("50 %", 0.5), ("90 %", 0.9)):
        x = marks[rank][0]
        y = max(y for at, y in steps if at >= x - 0.1)
        shown = low * (high / low) ** ((y - y_low) / (y_high - y_low))
        left, value = math.ceil(n * place), 0
        for lowest, count in sorted(buckets):
            value, left = lowest, left - count
            if left <= 0:
                break
        assert shown == pytest.approx(value * 1e-9, rel=0.03)


def test_one_event_has_all_percentiles(tmp_path):
    assert bench.run("mutex", "--mutex-num=4", "--mutex-locks=10", "--report=json:m.json", "run",
                     cwd=tmp_path).status == 0
    texts, root = svg(tmp_path, "m.json")
    assert [t for t in texts if t.endswith("%")] == ["50 %", "90 %"]
    paths = [p.get("d") for p in root.iter(SVG + "path")
             if re.findall(r"\d+", p.get("stroke") or "") == ["0", "114", "178"]]
    xs = [float(x) for x in re.findall(r"([\d.]+),", paths[0])]
    assert (min(xs), max(xs)) == (pytest.approx(0.085 * 1280, abs=1),
                                  pytest.approx(0.97 * 1280, abs=1))


def test_a_sweep(tmp_path, template):
    rates = {1: [100, 110, 90], 2: [200, 190, 210], 4: [300, 310, 5000], 8: [310, 320, 330]}
    sweep(tmp_path, template, rates)
    texts, root = svg(tmp_path, ".")
    assert "cpu" in texts
    assert "threads (median of 3 runs; bars: minimum to maximum)" in texts
    assert {"1", "2", "4", "8", "5k", "p99", "p95", "median"} <= set(texts)
    assert {"#0072b2", "#d55e00", "#009e73"} <= hex_colours(root)


def test_points_stand_at_their_medians(tmp_path, template):
    """The y of points on the axis from 0 to 400 that the marks of the picture define."""
    sweep(tmp_path, template, {1: [100, 110, 90], 2: [200, 190, 210], 4: [300, 400, 50]})
    _, root = svg(tmp_path, ".")
    top = [p for p in points_of(root) if p[1] < 360][:3]
    assert len(top) == 3
    (x1, y1), (x2, y2), (x3, y3) = top
    assert (y1 - y2) == pytest.approx(y2 - y3, abs=1)
    assert (x3 - x2) == pytest.approx(2 * (x2 - x1), abs=2)


def test_other_options_make_lines(tmp_path, template):
    for number, (threads, prime) in enumerate([(t, p) for t in (1, 2, 4) for p in (100, 200)]):
        save(tmp_path, f"runs/{number:04}.json",
             document_of(template, [threads * 1e3 / prime], threads=str(threads),
                         own={"table_size": str(prime)}))
    texts, _ = svg(tmp_path, ".")
    assert "threads" in texts
    assert [t for t in texts if t.startswith("table")] == ["table-size=100", "table-size=200"]
    assert "Latency, p99" in texts


def test_the_fit_of_a_sweep_over_threads(tmp_path, template):
    """At the points, the line has the rates of the law that they were computed from."""
    law = {n: 1000 * n / (1 + 0.05 * (n - 1) + 0.001 * n * (n - 1)) for n in (1, 2, 4, 8, 16, 32)}
    sweep(tmp_path, template, {n: [rate] for n, rate in law.items()})
    texts, root = svg(tmp_path, ".")
    assert "Throughput (events/s); line: Universal Scalability Law" in texts
    fits = [p for p in root.iter(SVG + "path") if (p.get("d") or "").count("L") > 100]
    assert len(fits) == 1
    steps = re.findall(r"([\d.]+),([\d.]+)", fits[0].get("d"))
    for x, y in points_of(root)[:len(law)]:
        near = min(steps, key=lambda step: abs(float(step[0]) - x))
        assert float(near[1]) == pytest.approx(y, abs=2.5)


def test_no_fit_of_few_points_or_another_option(tmp_path, template):
    sweep(tmp_path, template, {1: [100], 2: [200], 4: [300]})
    assert "Throughput (events/s)" in svg(tmp_path, ".")[0]
    for number, size in enumerate((1, 2, 4, 8, 16)):
        save(tmp_path, f"b/runs/{number:04}.json",
             document_of(template, [100 + number], **{"cpu-max-prime": str(size)}))
    assert "Throughput (events/s)" in svg(tmp_path, "b")[0]


def test_values_that_are_no_numbers(tmp_path, template):
    for number, clock in enumerate(("tsc", "os")):
        save(tmp_path, f"runs/{number:04}.json", document_of(template, [10], clock=clock))
    texts, _ = svg(tmp_path, ".")
    assert {"os", "tsc", "clock"} <= set(texts)


def test_one_point_only(tmp_path, template):
    sweep(tmp_path, template, {3: [100]})
    texts, _ = svg(tmp_path, ".")
    assert {"cpu, 3 threads", "3", "threads"} <= set(texts)


def test_runs_without_an_end_are_left_out(tmp_path, template):
    sweep(tmp_path, template, {1: [100], 2: [200]})
    broken = document_of(template, [1], threads="64")
    broken["end"].update(failed=True, status=1)
    save(tmp_path, "runs/0003.json", broken)
    for number, end in enumerate(({"status": 5}, {"status": 3, "reason": "assertion"}), 4):
        broken["end"] = dict(document_of(template, [1])["end"], **end)
        save(tmp_path, f"runs/{number:04}.json", broken)
    got = plot("-o", "p.svg", ".", cwd=tmp_path)
    assert got == ("", "bench plot: 3 of 5 runs did not end normally and are left out\n", 0)
    assert ">64<" not in (tmp_path / "p.svg").read_text()
    os.remove(tmp_path / "runs/0001.json")
    os.remove(tmp_path / "runs/0002.json")
    got = plot(".", cwd=tmp_path)
    assert got == ("", "bench plot: none of the 3 runs ended normally; run them again\n", 1)


def test_png(tmp_path, template):
    save(tmp_path, "a.json", document_of(template, [1000, 1500]))
    assert plot("--output=p.PNG", "a.json", cwd=tmp_path) == ("", "", 0)
    data = (tmp_path / "p.PNG").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (1920, 1080)


@pytest.mark.parametrize("columns", ["60", slow("79"), slow("120"), "x"])
def test_terminal(tmp_path, template, columns):
    save(tmp_path, "a.json", document_of(template, [1000, 1500, 900]))
    got = plot("a.json", cwd=tmp_path, env={"COLUMNS": columns})
    assert got.status == 0 and got.err == ""
    lines = got.out.split("\n")
    assert lines[0] == "cpu, 1 thread"
    assert max(map(len, lines)) <= (int(columns) if columns.isdigit() else COLUMNS)
    assert re.search(r"^ +1.5k (\||\+)", got.out, re.MULTILINE)
    assert re.search(r"^ +0 \+-+\+", got.out, re.MULTILINE)
    for wanted in ("Throughput (events/s)", "Latency", "Time (s)", "maximum", "median"):
        assert wanted in got.out
    assert not re.search(r"[^\n\x20-\x7e]", got.out)


HOSTILE = ("`touch made`", "$(touch made)", "'; system 'touch made'; '", "\"; !touch made\n!touch made",
           "x\nsystem 'touch made'\n", "@made {/=50 big} ^a_b \\", "a\x1b[31mb", "%s%n%d", "\u202etxt", "<a>&amp;<![CDATA[b]]>", "&#x0;&#0;&#xD800;&&#x1;",
           "]]]>]]>&#", "\uffff\ufffe")


@pytest.mark.parametrize("text, form", diagonal(HOSTILE, ["svg", "png", "text"]))
def test_no_text_is_a_command(tmp_path, template, text, form):
    hostile = document_of(template, [100, 200], threads="2")
    hostile["groups"][0]["name"] = text
    hostile["facts"]["workload"]["name"] = text
    hostile["facts"]["host"]["cpu_model"] = text
    hostile["facts"]["program"]["version"] = text
    hostile["facts"]["options"].append({"name": text, "group": "", "value": text,
                                        "origin": "command line"})
    save(tmp_path, "runs/1.json", hostile)
    save(tmp_path, "runs/2.json", document_of(template, [100, 200]))
    name = text.replace("/", "|") + ".json"
    save(tmp_path, name, hostile)
    out = [] if form == "text" else ["-o", "p." + form]
    for operands in ([name], ["./" + name, "runs/2.json"], ["."], ["--kind=latency", name]):
        got = plot(*out, *operands, cwd=tmp_path)
        assert got.status == 0 and got.err == ""
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", got.out)
        if form == "svg":
            picture = xml.etree.ElementTree.parse(tmp_path / "p.svg")
            # Kind 34 of issue 37: what the viewer shows is the text.
            if ("]]" in text or "&" in text) and operands[0] == name:
                assert text in "".join(picture.getroot().itertext()), operands
    assert not list(tmp_path.glob("**/made*"))


def test_without_gnuplot(tmp_path, template):
    save(tmp_path, "a.json", document_of(template, [100, 200]))
    got = plot("-o", "p.svg", "a.json", cwd=tmp_path, env={"PATH": str(tmp_path)})
    assert got == ("", "bench plot: the program gnuplot, which draws the picture, is not in PATH; "
                   "install it (Debian, Ubuntu: apt-get install gnuplot-nox; Fedora: dnf install "
                   "gnuplot)\n", 1)
    assert sorted(os.listdir(tmp_path)) == ["a.json"]


def fake_gnuplot(folder, text):
    path = folder / "bin" / "gnuplot"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return {"PATH": f"{folder}/bin:/usr/bin:/bin", "TMPDIR": str(folder)}


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("printf '\\nset foo\\n    ^\\n\"x\", line 3: unknown\\n' >&2; exit 1",
         'gnuplot cannot draw the picture: "x", line 3: unknown'),
        ("echo; echo no font >&2; exit 2", "gnuplot cannot draw the picture: no font"),
        ("exit 2", "gnuplot cannot draw the picture: it does not say why"),
        ("printf 'a\\033b' >&2; exit 2", "gnuplot cannot draw the picture: a\\x1bb"),
        ("exit 0", "gnuplot wrote no picture"),
        ("kill -9 $$", "gnuplot was ended by signal 9 (Killed): it does not say why"),
    ],
)
def test_gnuplot_that_fails(tmp_path, template, script, sentence):
    save(tmp_path, "a.json", document_of(template, [100, 200]))
    env = fake_gnuplot(tmp_path, script)
    (tmp_path / "p.svg").write_text("old")
    got = plot("-o", "p.svg", "a.json", cwd=tmp_path, env=env)
    assert got == ("", f"bench plot: {sentence}\n", 1)
    assert (tmp_path / "p.svg").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["a.json", "bin", "p.svg"]


def test_interrupted(tmp_path, template):
    save(tmp_path, "a.json", document_of(template, [100, 200]))
    env = fake_gnuplot(tmp_path, "kill -TERM $PPID; exec sleep 60")
    got = plot("-o", "p.svg", "a.json", cwd=tmp_path, env=env)
    assert got == ("", "bench plot: interrupted by signal 15\n", 143)
    assert sorted(os.listdir(tmp_path)) == ["a.json", "bin"]


def test_a_signal_ends_the_wait_for_the_reader_of_a_fifo(tmp_path, template):
    save(tmp_path, "a.json", document_of(template, [100, 200]))
    os.mkfifo(tmp_path / "p.svg")
    env = fake_gnuplot(tmp_path, "echo '<svg/>'; : >drawn")
    with subprocess.Popen([bench.binary(), "plot", "-o", "p.svg", "a.json"], cwd=tmp_path,
                          env={**bench.environment(), **env}, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "drawn").exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.5)
        process.terminate()
        err = process.communicate(timeout=bench.TIMEOUT_S)[1]
    assert process.returncode == 143
    assert err in ("bench plot: cannot write 'p.svg': no program reads this FIFO; start its reader first\n",
                   "bench plot: interrupted by signal 15\n")


@pytest.mark.sanitized
def test_what_cannot_be_drawn(tmp_path, template):
    save(tmp_path, "a.json", document_of(template, []))
    save(tmp_path, "b.json", document_of(template, [1, 2]))
    bare = document_of(template, [])
    del bare["groups"][0]["total"]["raw"]["histograms"]
    save(tmp_path, "bare.json", bare)
    (tmp_path / "empty").mkdir()
    (tmp_path / "none/runs").mkdir(parents=True)
    cases = {
        ("--kind=time", "b.json", "a.json"):
            "'a.json' has no intervals to draw over time; make the result with --report-interval=1",
        ("bare.json",): "'bare.json' has no latency histogram: the run measured no event, or had "
                        "--report-bins=none",
        ("empty",): "'empty' has no results; name a folder that has files of "
                    "--report=json:FILE, or whose folder runs has them",
        ("none",): "'none' has no results; name a folder that has files of "
                   "--report=json:FILE, or whose folder runs has them",
        ("a.json", "none"): "'none' is a folder; name it alone, or name its files",
        ("-o", "p.pdf", "a.json"):
            "--output=p.pdf: the name of the file must end in .svg or .png",
        ("-o", "p", "a.json"): "--output=p: the name of the file must end in .svg or .png",
        ("-o", "no/p.svg", "a.json"):
            "--output=no/p.svg: cannot write the file: No such file or directory",
        ("a.json",) * 29: "such a picture has at most 28 results; name fewer files",
    }
    for args, sentence in cases.items():
        assert plot(*args, cwd=tmp_path) == ("", f"bench plot: {sentence}\n", 1)


@pytest.mark.sanitized
def test_names_in_a_folder_reach_no_terminal(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/\x1b[31m.json").write_text("{")
    got = plot(".", cwd=tmp_path)
    assert got.status == 1 and "'./runs/\\x1b[31m.json'" in got.err and "\x1b" not in got.err


def test_a_file_that_is_no_result(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    got = plot("a.json", cwd=tmp_path)
    assert got.status == 1 and got.out == "" and "'a.json'" in got.err
