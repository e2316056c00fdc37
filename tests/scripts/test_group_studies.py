# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that each study does a task with groups: compare and history judge a figure of a group,
merge adds groups up, sweep varies an option of one, ab and search run them."""
import json
import re

import pytest

from lua import command

EMPTY = "function event() end\n"
GROUPS = ("--group=reads: ./a.lua --threads=2 --events=400", "--group=report: ./a.lua --events=100")
COUNTS = {"group:reads": 400, "group:report": 100}


def results(folder, *sides):
    """Folders of four results each."""
    folder.file("a.lua", EMPTY)
    for side in sides:
        (folder.path / side).mkdir()
        for i in range(4):
            r = command([*GROUPS, "--time=0", f"--report=json:{side}/{i}.json", "run"], folder.path)
            assert r.status == 0, r.out + r.err


def kinds(path):
    document = json.loads(path.read_text())
    return {k["name"]: k["events"] for k in document["groups"][0]["total"]["event_kinds"]}


def test_compare(folder):
    results(folder, "a", "b")
    r = command(["compare", "a", "b", "--metric=eps@group:reads", "--secondary=p95@group:report",
                 "--format=json"], folder.path)
    assert r.status == 0, r.err
    names = {row["metric"] for row in json.loads(r.out)["points"][0]["metrics"]}
    assert {"eps@group:reads", "p95@group:report"} <= names
    r = command(["compare", "a", "b"], folder.path)
    assert "p95@group:reads *" in r.out and "p95@group:report *" in r.out, r.out + r.err
    r = command(["compare", "a", "b", "--metric=p99@group:x"], folder.path)
    assert r.status == 1
    assert "the groups are: reads, report" in r.err
    r = command(["compare", "a", "b", "--metric=p99@event:x"], folder.path)
    assert "there are no kinds of events" in r.err
    r = command(["compare", "a", "b", "--fail-on=p95@group:report:90%:9s"], folder.path)
    assert r.status in (0, 6) and r.err == "" and "p95@group:report" in r.out


def test_compare_tells_what_differs_between_groups(folder):
    """An option behind 200 bytes of others; groups take the greatest percentile and the profile of the run."""
    folder.file("a.lua", EMPTY)
    for side, driver in (("a", "null"), ("b", "sqlite")):
        folder.path.joinpath(side).mkdir()
        groups = f"x: ./a.lua; y: ./a.lua --mysql-user={'u' * 200} --db-driver={driver}"
        # All arrivals are in the first 0.2 s, because a run whose last ones are late is not compared.
        r = command(["--group=" + groups, "--rate-profile=hold:50/200ms; hold:1/9s", "--arrivals=constant",
                     "--time=0.6", "--percentile=99,50", f"--report=json:{side}/0.json", "run"], folder.path)
        assert r.status == 0, r.out + r.err
    r = command(["compare", "a", "b"], folder.path)
    assert "\n  --y.db-driver: null in A, sqlite in B\n" in r.out, r.out + r.err
    assert "--y.mysql-user" not in r.out
    assert "p99@group:x *" in r.out and "p50@group" not in r.out
    assert "The runs had a fixed rate" in r.out


def test_sweep_over_a_group_is_drawn_in_the_order_of_its_values(folder):
    folder.file("a.lua", EMPTY)
    r = command(["sweep", "--vary=b.events=10,5", "--repeat=1", "--out=s", "--group=a: ./a.lua --events=1; b: ./a.lua",
                 "--time=0", "run"], folder.path)
    assert r.status == 0, r.out + r.err
    r = command(["plot", "s"], folder.path)
    assert re.search(r"^ +5 +10\n +b\.events", r.out, re.M), r.out + r.err


def test_history(folder):
    results(folder, "a")
    r = command(["history", "--metric=p95@group:reads", *(f"a/{i}.json" for i in range(4))],
                folder.path)
    assert r.status == 0, r.err
    assert "p95@group:reads (ms): no change point" in r.out
    assert "4 runs" in r.out


def test_history_ignores_an_option_of_a_group(folder):
    """By its name with that of the group, and by that of each group."""
    folder.file("a.lua", EMPTY)
    for i in range(4):
        r = command([f"--group=reads: ./a.lua --events={5 + i}; b: ./a.lua --events=9 --threads={1 + i % 2}",
                     "--time=0", f"--report=json:{i}.json", "run"], folder.path)
        assert r.status == 0, r.err
    files = [f"{i}.json" for i in range(4)]
    for ignored, runs in (("reads.events", [2, 2]), ("events,b.threads", [4]), ("b.threads", [1] * 4), ("group", [4])):
        r = command(["history", f"--ignore={ignored}", "--format=json", *files], folder.path)
        assert r.status == 0, r.err
        assert [one["runs"] for one in json.loads(r.out)["series"]] == runs
    r = command(["history", "--ignore=b.rate", *files], folder.path)
    assert r.status == 1 and "--ignore=b.rate: no run has this option" in r.err


def test_merge(folder):
    results(folder, "a")
    r = command(["merge", "--force", "a/0.json", "a/1.json", "--output=m.json"], folder.path)
    assert r.status == 0, r.err
    assert kinds(folder.path / "m.json") == {name: 2 * n for name, n in COUNTS.items()}
    assert "differs" not in r.err


def test_merge_says_that_groups_had_other_options(folder):
    folder.file("a.lua", EMPTY)
    for n in (5, 6):
        r = command([f"--group=x: ./a.lua --events={n}", "--time=0", f"--report=json:{n}.json", "run"], folder.path)
        assert r.status == 0, r.err
    r = command(["merge", "--force", "5.json", "6.json", "--output=m.json"], folder.path)
    assert r.status == 0, r.err
    assert "--group differs: x: ./a.lua --events=5 in '5.json', x: ./a.lua --events=6 in '6.json'\n" in r.err


def test_sweep(folder):
    """Only the group that is named gets the value."""
    folder.file("a.lua", EMPTY)
    r = command(["sweep", "--vary=report.events=10,20", "--repeat=1", "--out=s", *GROUPS, "--time=0",
                 "run"], folder.path)
    assert r.status == 0, r.out + r.err
    found = sorted(kinds(path)["group:report"] for path in (folder.path / "s/runs").glob("*.json"))
    assert found == [10, 20]
    assert all(kinds(path)["group:reads"] == 400 for path in (folder.path / "s/runs").glob("*.json"))
    assert "report.events" in r.out
    # The figures of the group that is varied are shown, and no other group's.
    head, *rows = r.out.splitlines()[:3]
    assert "report events/s  report avg, ms  report p95, ms" in head and "reads" not in head
    heads, *lines = (line.split(",") for line in (folder.path / "s/table.csv").read_text().splitlines())
    of_group = [name for name in heads if name.endswith("@group:report_median")]
    assert not any("@group:reads" in name for name in heads)
    points = json.loads((folder.path / "s/table.json").read_text())["points"]
    for line, point in zip(lines, points):
        cells = dict(zip(heads, line))
        for name in of_group:
            figure = name.removesuffix("_median")
            assert float(cells[name]) == point["figures"][figure]["median"]
    for item, message in (("report.time=1,2", "--group=report: --time has one value"),
                          ("other.rate=1,2", "no group is called 'other'"),
                          ("report.hosts-file=x", "")):
        r = command(["sweep", f"--vary={item}", "--repeat=1", f"--out=s-{item[:9]}", *GROUPS,
                     "--time=0", "run"], folder.path)
        assert r.status == 1
        assert message in r.err


def test_a_sweep_tells_groups_behind_a_password_apart(folder):
    folder.file("a.lua", EMPTY)
    words = ["sweep", "--vary=x.events=10,20", "--repeat=1", "--out=s", "--time=0", "--db-driver=mysql"]
    group = "--group=x: ./a.lua --mysql-password=swordfish; y: ./a.lua --events="
    assert command([*words, group + "30", "run"], folder.path).status == 0
    assert "swordfish" not in (folder.path / "s/table.json").read_text()
    assert command([*words, "--resume", group + "30", "run"], folder.path).status == 0
    r = command([*words, "--resume", group + "40", "run"], folder.path)
    assert r.status == 1 and "--events=40" in r.err, r.err



def test_a_sweep_varies_the_rate_of_a_group_without_the_profile_of_the_run(folder):
    folder.file("a.lua", EMPTY)
    words = ("sweep", "--vary=a.rate=100,200", "--repeat=1", "--time=0.1", "--rate-profile=hold:50/9s")
    r = command([*words, "--out=s", "--group=a: ./a.lua --rate-profile=none; b: ./a.lua", "run"], folder.path)
    assert r.status == 0, r.err
    r = command([*words, "--out=t", "--group=a: ./a.lua; b: ./a.lua", "run"], folder.path)
    assert r.status == 1
    assert "--rate cannot be used with --rate-profile, which stands outside" in r.err


# A script that notes its preparations, and says whether its option `hot` keeps the data.
DATA = """
sysbench.cmdline.options = {hot = {"rows that are read", 1, keeps_data = %s}}
function prepare()
  local log = io.open("log", "a")
  log:write("prepared\\n")
  log:close()
end
function cleanup() end
function event() end
"""


@pytest.mark.parametrize("varied, changes, prepared", [
    (("m.hot=1,2",), [], 1), (("m.hot=1,2", "d.hot=1,2"), ["d.hot"], 2), (("hot=1,2",), ["hot"], 2)])
def test_a_sweep_keeps_the_data_if_each_script_that_gets_the_option_says_so(folder, varied, changes, prepared):
    for name, keeps in (("one", "true"), ("two", "true"), ("other", "false")):
        folder.file(f"{name}.lua", DATA % keeps)
    r = command(["sweep", *(f"--vary={one}" for one in varied), "--repeat=1", "--prepare", "--out=s", "--events=1",
                 "--time=0", "--group=m: ./one.lua@2 ./two.lua@1; d: ./other.lua", "--db-driver=null", "run"],
                folder.path)
    assert r.status == 0, r.err
    assert json.loads((folder.path / "s/study.json").read_text())["settings"]["data"] == changes
    assert (folder.path / "log").read_text() == 3 * prepared * "prepared\n"


def test_ab(folder):
    folder.file("a.lua", EMPTY)
    r = command(["ab", "--a=--report.think-time=40ms", "--b=--report.think-time=2ms", "--out=ab",
                 "--metric=eps@group:report", "--time=0.5", "--think-time=9ms",
                 "--group=reads: ./a.lua", "--group=report: ./a.lua", "run"], folder.path)
    assert r.status == 0, r.out + r.err
    assert "B is better" in r.out and "eps@group:report" in r.out


@pytest.mark.parametrize("side, words", [
    ("A", ["--group=pay: ./a.lua --mysql_host=db1"]), ("A", ["--group=pay: ./a.lua", "--pay.mysql-host=db1"]),
    ("B", ["--b=--pay.mysql-host=db1", "--group=pay: ./a.lua"])])
def test_ab_refuses_settings_for_a_server_within_a_group(folder, side, words):
    """They went to the default server.  A server outside, too, is the one that is meant."""
    folder.file("a.lua", EMPTY)
    ab = ("ab", "--a-set=SET GLOBAL x=1", "--out=ab", *words)
    r = command([*ab, "run"], folder.path)
    assert r.status == 1
    assert f"bench ab: side {side}: the statements of --a-set and --b-set go to" in r.err, r.err
    assert "but --mysql-host stands in the group pay; give it outside of the groups too" in r.err
    assert not (folder.path / "ab").exists()
    r = command([*ab, "--db-driver=mysql", "--mysql-host=127.0.0.1", "--mysql-port=1", "run"], folder.path)
    assert r.status == 1 and "the question for the values of before failed" in r.err, r.err


def test_search(folder):
    """The rate of one group is varied, and that of the other stays."""
    folder.file("a.lua", EMPTY)
    groups = "--group=reads: ./a.lua; report: ./a.lua --rate=20"
    words = ("search", "--goal=p95@group:reads<10s", "--time=0.3", "--warmup-time=0")
    r = command([*words, "--over=reads.rate", "--min=500", "--max=1000", "--precision=50",
                 "--out=s", groups, "run"], folder.path)
    assert r.status in (0, 3, 4), r.out + r.err
    rates = [json.loads(path.read_text())["facts"]["plan"]["rate"]
             for path in (folder.path / "s").rglob("*.json")]
    assert 1020 in rates
    assert "reads.rate, 1/s" in r.out
    assert "events/s, avg, p95 and p99 are those of the group reads, and errors those of the run" in r.out
    # The rate of the group, without the 20/s of the other one.
    shown = [row for row in map(str.split, r.out.splitlines()) if len(row) == 11 and row[0].isdigit()]
    heads, *lines = (line.split(",") for line in (folder.path / "s/table.csv").read_text().splitlines())
    rates = {cells["probe"]: float(cells["events_per_s@group:reads"])
             for cells in (dict(zip(heads, line)) for line in lines)}
    assert len(shown) == len(rates) > 0
    for row in shown:
        assert float(row[4]) == pytest.approx(rates[row[0]], rel=0.01)
    for over, message in (
            ("rate", "--over=rate: each group has a value of its own; vary that of one group with "
             "--over=reads.rate"),
            ("threads", "--over=threads: each group has a value of its own"),
            ("x.rate", "--over=x.rate: no group is called 'x'; there are: reads, report"),
            ("reads.time", "--over=reads.time: unknown; allowed: rate, threads, and with groups")):
        r = command([*words, f"--over={over}", groups, "run"], folder.path)
        assert r.status == 1 and message in r.err


@pytest.mark.parametrize("own, option", [
    ("--events=9", "events"), ("--events-per-session=9", "events-per-session"),
    ("--rate-profile=hold:5/9s", "rate-profile"), ("--threads-profile=hold:1/9s", "threads-profile"),
    ("--think-time=1ms", "think-time")])
def test_a_search_refuses_what_its_group_cannot_have(folder, own, option):
    """The rates that are tried would not be those of the group."""
    folder.file("a.lua", EMPTY)
    words = ("search", "--goal=p95@group:a<10s", "--over=a.rate", "--time=0.1", "--warmup-time=0",
             "--min=500", "--max=500")
    for groups in ([f"--group=a: ./a.lua {own}; b: ./a.lua"], ["--group=a: ./a.lua; b: ./a.lua", f"--a.{own[2:]}"]):
        r = command([*words, *groups, "run"], folder.path)
        assert r.status == 1
        assert f"--group=a: --{option}: the search " in r.err
    # That of another group is of no interest, and a value for none is one.
    unset = "none" if "profile" in option else "0"
    r = command([*words, "--cooldown=0", "--time-max=0.1",
                 f"--group=a: ./a.lua --{option}={unset}; b: ./a.lua {own}", "run"], folder.path)
    assert "the search " not in r.err and "probe 1" in r.err


def test_an_option_that_each_group_has_is_not_varied(folder):
    """Neither as an item of a sweep nor as a side of ab: the runs would be the same."""
    folder.file("a.lua", EMPTY)
    groups = ("--group=a: ./a.lua '--threads=2'; b: ./a.lua --events=9", "--b.num-threads=3")
    for words, shown in ((("sweep", "--vary=threads=1,2", "--out=s"), "--vary=threads"),
                         (("ab", "--b=--threads=4", "--out=ab"), "--b=--threads")):
        r = command([*words, *groups, "--time=0", "run"], folder.path)
        assert r.status == 1
        assert f"{shown}: each group has its own --threads, so this changes nothing" in r.err
    r = command(["sweep", "--vary=events=3,4", "--repeat=1", "--out=s", *groups, "--time=0", "run"],
                folder.path)
    assert r.status == 0, r.err
    assert sorted(kinds(path)["group:a"] for path in (folder.path / "s/runs").glob("*.json")) == [
        3, 4]


def test_a_mistyped_option_of_a_study_stands_outside_of_the_groups(folder):
    """The study leaves it to the run, in which it is no option of the first group."""
    folder.file("a.lua", EMPTY)
    where = " (it stands outside of the groups, where each script must have it)"
    for study in (("sweep", "--vary=events=1,2", "--out=s"), ("ab", "--b=--events=4", "--out=ab"),
                  ("search", "--goal=p95<1s", "--over=a.rate", "--out=se")):
        for option, group, said in (
                ("--repaet=1", "", f"--repaet=***: no such option; did you mean --report?{where}"),
                ("--label=a=b", "--repaet=1", "--repaet=***: no such option; did you mean --report?")):
            r = command([*study, option, "--time=1", f"--group=a: ./a.lua {group}", "run"],
                        folder.path)
            told = r.out + r.err + "".join(p.read_text() for p in folder.path.rglob("*.err"))
            assert r.status != 0 and said in told, told
            assert (where in told) == (group == "")
            for path in folder.path.rglob("*.err"):
                path.unlink()


@pytest.mark.parametrize("more, paced", [("", False), ("--b.rate=50", True), ("--rate=50", True)])
def test_a_comparison_says_that_rates_were_fixed_if_all_were(folder, more, paced):
    folder.file("a.lua", EMPTY)
    for i in range(2):
        r = command(["--group=a: ./a.lua --rate=100 --events=5; b: ./a.lua --events=5", "--time=0",
                     *more.split(), f"--report=json:{i}.json", "run"], folder.path)
        assert r.status == 0, r.err
    r = command(["compare", "0.json", "1.json"], folder.path)
    assert ("The runs had a fixed rate" in r.out) == paced


@pytest.mark.parametrize("study", ["ab", "sweep", "search"])
def test_a_study_within_a_group_is_refused(folder, study):
    r = command([f"--group=x: {study} ./a.lua", "run"], folder.path)
    assert r.status == 1
    assert f"--group=x: '{study}' is a subcommand; a group runs a script" in r.err
