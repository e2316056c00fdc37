# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that the manual pages have every option of every table and of every bundled workload, every
member of a result document, every line of the reports, that their references to each other lead
somewhere, and that mandoc has no complaint."""

import json
import pathlib
import re
import shutil
import subprocess

import pytest

import bench
import examples


@pytest.fixture(name="paths", scope="module")
def paths_of_pages():
    """[path]: the generated pages of the build, and the others of the sources."""
    built = pathlib.Path(bench.binary()).parents[1] / "man"
    found = []
    for source in examples.pages():
        path = built / source.stem if source.suffix == ".in" else source
        assert path.exists(), f"make has not built man/{path.name}"
        found.append(path)
    return found


@pytest.fixture(name="pages", scope="module")
def texts_of_pages(paths):
    """{name: text}"""
    return {path.name: path.read_text() for path in paths}


@pytest.fixture(name="manual", scope="module")
def text_of_all_pages(pages):
    return "".join(pages.values())


def items(text):
    return re.findall(r"^\.It Fl Fl ([a-z0-9-]+)", text, re.MULTILINE)


def generated(text):
    """{heading: [option]} of the section OPTIONS."""
    parts = text.split("\n.Sh OPTIONS\n")[1].split("\n.Sh ")[0].split(".Ss ")[1:]
    return {part.split("\n")[0]: items(part) for part in parts}


def test_every_option_is_in_one_page(pages, manual):
    tables = bench.run("--help-man")
    assert (tables.err, tables.status) == ("", 0)
    assert "@OPTIONS@" not in manual
    of_page = {name: generated(text) for name, text in pages.items() if "\n.Sh OPTIONS\n" in text}
    found = [part for parts in of_page.values() for part in parts.items()]
    assert sorted(found) == sorted(generated("\n.Sh OPTIONS\n" + tables.out).items())
    assert len(items(tables.out)) > 60
    for page, heading in (
        ("bench.1", "General options"),
        ("bench-workloads.7", "MySQL driver"),
        ("bench-workloads.7", "File I/O test"),
        ("bench-output.7", "Report json"),
        ("bench-output.7", "bench merge"),
        ("bench-studies.7", "bench sweep"),
    ):
        assert heading in of_page[page]
    # What the help lists is there too, and nothing is listed twice in one place.
    listed = set(re.findall(r"^  --([a-z0-9-]+)", bench.run("--help").out, re.MULTILINE))
    assert listed <= set(items(manual))
    for part in tables.out.split("\n.Ss bench "):
        assert len(set(items(part))) == len(items(part))


def test_every_item_tells_its_default(manual):
    # The old names tell whose they are instead.
    for item in re.split(r"^\.It Fl Fl (?=\S+ Ns )", manual, flags=re.MULTILINE)[1:]:
        text = re.split(r"^\.(?:El|It)", item, flags=re.MULTILINE)[0]
        assert re.search(r"^Default: \S", text, re.MULTILINE) or "\nOld name of " in text, text


def test_bounds_and_dialects_are_told(manual):
    assert "From 1 to 1000000.\nDefault: 1.\n" in manual
    assert "Default: uniform, in dialect 1.0 special, in dialect 0.5 special.\n" in manual
    # Choices are listed once: here if the help does not have them.
    assert "One of default, read\\-uncommitted, read\\-committed" in manual
    assert "One of auto, tsc, vdso" not in manual and "auto, tsc or vdso" in manual


# --- bundled workloads ----------------------------------------------------------------------------


def listed_after(text, mark):
    """{option: default} of the list behind the comment MARK."""
    section = text.split(f'\n.\\" {mark}\n')[1].split("\n.El\n")[0]
    found = {}
    for item in re.split(r"^\.It Fl Fl ", section, flags=re.MULTILINE)[1:]:
        found[item.split(" ")[0]] = re.search(r"^Default: (.*)\.$", item, re.MULTILINE)[1]
    return found


def options_of(workload):
    """{option: default} of the help of a bundled workload."""
    rows = re.sub(r"\n {10,}", " ", bench.run(workload, "help").out)
    lines = re.findall(r"^  --([\w-]+)\S* .*?(?:\[([^\[\]]*)\])?$", rows, re.M)
    return {name.replace("_", "-"): default or "none" for name, default in lines}


def test_every_option_of_a_workload_is_in_the_page(pages):
    text = pages["bench-workloads.7"]
    common = options_of("oltp_read_write")
    assert len(common) > 20 and listed_after(text, "workload options: oltp_read_write") == common
    for workload in ("select_random_points", "select_random_ranges"):
        own = listed_after(text, f"workload options: {workload}")
        assert own and options_of(workload) == common | own
    own = listed_after(pages["bench-order-entry.7"], "workload options: order_entry")
    assert len(own) >= 2 and options_of("order_entry") == own
    own = listed_after(text, "workload options: tpcb_like")
    assert len(own) == 2 and options_of("tpcb_like") == own


def test_every_bundled_workload_is_in_the_page(pages):
    scripts = {path.stem for path in (bench.source_root() / "src" / "lua").glob("*.lua")}
    libraries = {"oltp_common", "oltp_options", "oltp_prepare", "oltp_restart", "oltp_tables",
                 "tpcb_check", "tpcb_tables"}
    section = pages["bench-workloads.7"].split(".Sh BUNDLED WORKLOADS\n")[1].split(".Pp\n")[0]
    assert set(re.findall(r"^\.It Cm (\S+)$", section, re.MULTILINE)) == scripts - libraries
    own = {"select_random_points", "select_random_ranges", "order_entry", "tpcb_like"}
    for workload in scripts - libraries - own:
        options = options_of(workload)
        assert options == ({} if workload == "bulk_insert" else options_of("oltp_read_write"))


def test_every_condition_of_order_entry_is_in_the_page(pages):
    """With its meaning, and those that --order-check=quick asks: they do not read order_line and stock."""
    folder = bench.source_root() / "src" / "lua" / "order_entry"
    text = (folder / "conditions.lua").read_text() + (folder / "check.lua").read_text()
    meanings = dict(re.findall(r'name = "(\w+)",\s+meaning = "([^"]+)"', text))
    section = pages["bench-order-entry.7"].split("\n.Sh CHECK\n")[1].split("\n.Sh ")[0]
    told = re.findall(r"^\.It (\w+)\n((?:[^.].*\n)+)", section, re.MULTILINE)
    listed = {name: " ".join(words.split()) for name, words in told}
    assert len(listed) == 22
    assert listed == {name: words[0].upper() + words[1:] + "." for name, words in meanings.items()}
    queries = re.findall(r'name = "(\w+)".*?sql = \[\[(.*?)\]\]', (folder / "conditions.lua").read_text(), re.DOTALL)
    quick = [name for name, sql in queries if "order_line" not in sql and "FROM stock" not in sql]
    assert f"\nasks {', '.join(quick)}, and 11L after\n" in section


def test_every_option_of_an_old_workload_is_in_the_page(pages):
    text = pages["bench-workloads.7"]
    source = (bench.source_root() / "src/lua/oltp_legacy/common.lua").read_text()
    declared = "".join(re.findall(r"^local (?:numbers|switches|texts) = \{\n(.*?)\n\}", source, re.M | re.S))
    defaults = re.findall(r"(\w+) = (\w+|\"[^\"]*\")", declared)
    words = {"true": "on", "false": "off", '""': "none"}
    known = {name.replace("_", "-"): words.get(d, d.strip('"')) for name, d in defaults}
    driver = {name: known.pop(name) for name in ("mysql-table-engine", "mysql-engine-trx", "myisam-max-rows")}
    assert listed_after(text, "legacy options") == known and len(known) > 20
    assert all(re.search(rf"^\.It Fl Fl {name} ", text, re.M) for name in driver)


# --- dialects -------------------------------------------------------------------------------------

OLD_NAMES = {"events": "max-requests", "time": "max-time"}


def default_in(dialect, name):
    helped = bench.run("--help", dialect=dialect).out
    if dialect == "0.5":
        name = OLD_NAMES.get(name, name)
    default = re.search(rf"^  --{name}=\S+ .*?(?:\[([^\[\]]*)\])?$", helped, re.MULTILINE)[1]
    return default or "none"


def test_defaults_of_dialects_are_in_the_page(pages):
    text = pages["bench-compat.7"]
    rows = re.findall(r"^\.It Fl Fl (\S+)(?: No by default)?((?: Ta [\w, -]+){4})$", text, re.M)
    table = {name: cells.split(" Ta ")[1:] for name, cells in rows if name != "percentile"}
    assert set(table) == {"events", "time", "rand-type", "db-driver"}
    for name, cells in table.items():
        assert [default_in(d, name) for d in ("own", "1.1", "1.0", "0.5")] == cells, name


# --- reports --------------------------------------------------------------------------------------


def members(value):
    """The names of all members of a JSON value whose names are not data."""
    if isinstance(value, list):
        return {name for each in value for name in members(each)}
    if not isinstance(value, dict):
        return set()
    inside = {k: v for k, v in value.items() if k not in ("counters", "labels", "histograms")}
    return set(value) | {name for each in inside.values() for name in members(each)}


def test_every_member_of_a_document_is_in_the_page(pages, tmp_path):
    section = pages["bench-result.5"].split(".Sh MEMBERS\n")[1].split(".Sh ")[0]
    file = tmp_path / "a.json"
    arguments = ("--debug", "--memory-total-size=1M", f"--report=json:{file}")
    assert bench.run("memory", *arguments, "run").status == 0
    document = json.loads(file.read_text())
    for single in ("program", "workload", "host", "clock"):
        assert single in section
        del document["facts"][single]
    words = set(re.findall(r"\w+", section))
    assert members(document) - words == set() and len(members(document)) > 80


def test_the_figures_of_reports_are_those_of_documents(pages):
    """A name that begins with _ is the end of one whose beginning is that of the name before it."""
    table = pages["bench-output.7"].split(".It Sy Report Ta Sy Document")[1].split(".El\n")[0]
    schema = json.loads((bench.source_root() / "src/measure/result.schema.json").read_text())
    known = {*schema["$defs"]["record"]["properties"]["figures"]["properties"], "percentiles", "timings"}
    rows = [re.findall(r"\w+", row.split(" Ta ")[1]) for row in table.split("\n.It ")[1:]]
    names = [first.rsplit("_", 1)[0] + name if name.startswith("_") else name
             for first, *others in rows for name in (first, *others)]
    assert len(names) > 30 and set(names) - known == set()


def test_every_number_of_a_test_is_in_the_page(pages, tmp_path):
    """Counters, timings, and figures of the workload, by their names."""
    section = pages["bench-result.5"].split(".Sh MEMBERS\n")[1].split(".Sh ")[0]
    file = tmp_path / "a.json"
    small = ("fileio", "--file-num=1", "--file-total-size=64K", "--file-test-mode=rndrw")
    assert bench.run(*small, "prepare", cwd=tmp_path).status == 0
    names = set()
    for test in (
        small,
        ("memory", "--memory-oper=latency", "--memory-total-size=1M"),
        ("oltp_point_select", "--db-driver=null", "--db-debug"),
        ("--test=oltp", "--db-driver=null", "--compat=0.5"),
        ("cpu", "--rate=1000"),
    ):
        done = bench.run(*test, "--events=3", f"--report=json:{file}", "run", cwd=tmp_path)
        assert done.status == 0, done
        [group] = json.loads(file.read_text())["groups"]
        names |= {row["name"] for row in group["metrics"]}
        names |= {row["name"] for part in ("timings", "workload") for row in group["total"][part]}
    assert names - set(re.findall(r"\w+", section)) == set() and len(names) > 40


def test_every_line_of_a_final_report_is_in_the_page(pages):
    section = pages["bench-output.7"].split(".Ss Final report")[1].split(".Ss ")[0]
    definitions = pages["bench-output.7"].split(".Sh FIGURES\n")[1]
    for command in (
        ("cpu", "--events=1"),
        ("cpu", "--events=1", "--rate=100"),
        ("memory", "--memory-total-size=1M"),
        ("oltp_point_select", "--db-driver=null", "--events=1"),
    ):
        out = bench.run(*command, "run").out.split("Threads started!\n")[1]
        names = re.findall(r"^ +([a-z][^:\n]*): ", out, re.MULTILINE)
        assert len(names) > 8
        for name in (re.sub(r" \(.*", "", name) for name in names):
            assert name.removeprefix("total") in section, name
            assert name in definitions or command[0] != "cpu", name


# --- scripts --------------------------------------------------------------------------------------

WALK = """
local function walk(of)
  for name, value in pairs(of) do
    print("name " .. name)
    if type(value) == "table" and of ~= sysbench.opt then walk(value) end
  end
end
walk(sysbench)
"""


def test_every_name_of_the_interface_is_in_the_page(pages, tmp_path):
    words = set(re.findall(r"\w+", pages["bench-lua.7"]))
    (tmp_path / "walk.lua").write_text(WALK)
    names = set(re.findall(r"^name (.*)$", bench.run("walk.lua", cwd=tmp_path).out, re.MULTILINE))
    # The ends of the range of types.
    assert names - words - {"ARG_NULL", "ARG_MAX"} == set() and len(names) > 50
    methods = set()
    for path in (bench.source_root() / "src/lua/internal").glob("sysbench.sql*.lua"):
        methods |= set(re.findall(r"^function \w+_methods:(\w+)", path.read_text(), re.MULTILINE))
    assert methods - words == set() and len(methods) > 15


# --- studies --------------------------------------------------------------------------------------

PRESENT = """
local modules = {native = require("study.native"), document = require("study.document")}
study = {title = "x", run = function(_, operands)
  for _, operand in ipairs(operands) do
    local module, name = operand:match("^(%w+)%.([%w_]+)$")
    assert(modules[module][name] ~= nil, operand)
  end
end}
"""


def test_every_function_for_studies_in_the_page_is_there(pages, tmp_path):
    section = pages["bench-studies.7"].split(".Sh STUDIES OF YOUR OWN\n")[1].split(".Sh ")[0]
    names = set(re.findall(r"\b(?:native|document)\.[a-z]\w*", section))
    assert len(names) > 30
    (tmp_path / "present.lua").write_text(PRESENT)
    assert bench.run("study", tmp_path / "present.lua", *names) == ("", "", 0)


# --- references -----------------------------------------------------------------------------------


def headings(text):
    return set(re.findall(r"^\.S[hs] (.*)$", text, re.MULTILINE))


def test_references_within_a_page_lead_somewhere(pages):
    found = [
        (page, name.strip('"'))
        for page, text in pages.items()
        for line in re.findall(r"^\..*\bSx (.*?)(?: [.,:;])?$", text, re.MULTILINE)
        for name in line.split(" , ")
    ]
    assert len(found) > 60
    assert [(page, name) for page, name in found if name not in headings(pages[page])] == []


def test_references_to_other_pages_lead_somewhere(pages):
    named = re.findall(r"\bXr (bench\S*) (\d)", "".join(pages.values()))
    assert {f"{name}.{number}" for name, number in named} == set(pages)
    found = [
        (f"{name}.{number}", section)
        for text in pages.values()
        for section, name, number in re.findall(
            r"\bD(?:o (?=.* Dc )|q )(.*?)(?: Dc |\n)in[ \n]\.?Xr (bench\S*) (\d)", text
        )
    ]
    assert len(found) > 30
    assert [(page, name) for page, name in found if name not in headings(pages[page])] == []


def test_mandoc_has_no_complaint(paths):
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    done = subprocess.run(
        ["mandoc", "-Tlint", "-Wstyle", *paths], capture_output=True, text=True, check=False
    )
    lines = [
        line
        for line in (done.stdout + done.stderr).split("\n")
        # Whether other pages are installed is no property of this one.
        if line and "lacks" not in line and "referenced manual not found" not in line
    ]
    assert lines == []
