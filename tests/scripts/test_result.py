# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that sysbench.result in done() is the result document of the run, as a table."""
import json

import pytest

import gate
from bench import good
from lua import BENCH


# Writes a table as JSON; an empty one as a list.
DUMP = """
local function json(value)
  if type(value) == "number" then
    return ("%.17g"):format(value)
  elseif type(value) == "boolean" then
    return tostring(value)
  elseif type(value) == "string" then
    return '"' .. value:gsub('[%c"\\\\]', function (c)
      return ("\\\\u%04x"):format(c:byte())
    end) .. '"'
  end
  local parts = {}
  if next(value) == nil or value[1] ~= nil then
    for i = 1, #value do parts[i] = json(value[i]) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for key, member in pairs(value) do
    parts[#parts + 1] = json(key) .. ":" .. json(member)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function dump(name)
  local file = io.open(name, "w")
  file:write(json(sysbench.result))
  file:close()
end
"""


def plain(value):
    """As Lua has it: no nulls, and numbers that are doubles; an empty map is an empty list."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if v is not None} or []
    if isinstance(value, list):
        return [plain(v) for v in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def test_is_nil_before_done(folder):
    r = folder.run("""
print("top", sysbench.result)
function init() print("init", sysbench.result) end
function event() print("event", sysbench.result) end
function thread_done() print("thread_done", sysbench.result) end
function sysbench.hooks.report_cumulative() print("hook", sysbench.result ~= nil) end
function prepare() print("prepare", sysbench.result) end
function done() print("done", type(sysbench.result), rawequal(sysbench.result, sysbench.result)) end
""", "--events=1")
    for phase in ("top", "init", "event", "thread_done"):
        assert f"{phase}\tnil" in r.lines, r.out
    assert "done\ttable\ttrue" in r.lines and r.status == 0, r.out + r.err
    r = folder.lua("function prepare() print('prepare', sysbench.result) end", "prepare")
    assert r.lines == ["prepare\tnil"]


@pytest.mark.parametrize("more", gate.first([["--rate=200", "--warmup-time=0.2"], [], ["--threads=70"]]))
def test_is_the_document(folder, more):
    r = folder.run(DUMP + """
ffi.cdef("int usleep(unsigned int);")
local calls = sysbench.metrics.counter("calls")
local load = sysbench.metrics.histogram("page_load")
function event() ffi.C.usleep(500) calls:add() load:add(0.001) end
function done() dump("lua.json") end
""", "--report=json:run.json", "--time=2.5", "--report-interval=0.2", "--percentile=50,99",
                   "--report-checkpoints=1", "--assert=eps>0", "--threads=2", *more)
    assert r.status in good(more), r.out + r.err
    document = json.loads((folder.path / "run.json").read_text())
    result = json.loads((folder.path / "lua.json").read_text(), parse_int=float)
    del document["end"]
    document["facts"].pop("messages", None)
    assert len(result["groups"][0]["intervals"]) >= 2
    assert len(result["groups"][0]["checkpoints"]) == 1
    assert result == plain(document)


@pytest.mark.sanitized
def test_of_a_database_with_a_secret(folder):
    r = folder.run(DUMP + """
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") end
function done() dump("lua.json") end
function sysbench.hooks.report_cumulative(stat) print("own report") end
""", "--report=json:run.json", "--events=20", "--db-driver=sqlite", "--sqlite-db=t.db",
                   "--mysql-password=very secret")
    assert "own report" in r.lines and r.status == 0, r.out + r.err
    text = (folder.path / "lua.json").read_text()
    result = json.loads(text, parse_int=float)
    document = json.loads((folder.path / "run.json").read_text())
    del document["end"]
    document["facts"].pop("messages", None)
    assert result == plain(document)
    assert "very secret" not in text
    assert result["facts"]["database"]["driver"] == "sqlite"
    total = result["groups"][0]["total"]
    assert total["replaced"] is True and total["figures"]["reads"] == 20


def test_after_an_error(folder):
    """done() is called, and what was measured is there."""
    r = folder.run("""
function event() n = (n or 0) + 1 if n == 6 then error("bad luck") end end
function done() print("events", sysbench.result.groups[1].total.figures.events) end
""")
    assert "events\t5" in r.lines and r.status == 1, r.out


def test_dialects_do_not_have_it(folder):
    for dialect in ("0.5", "1.0", "1.1"):
        r = folder.run("function event() end function done() print('done', sysbench.result) end",
                       "--max-requests=1", BENCH_COMPAT=dialect)
        assert "done\tnil" in r.lines and r.status == 0, r.out + r.err
