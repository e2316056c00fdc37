# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that no call for memory and no write that fails makes a run crash, hang or end well without
its whole report."""

import os

import pytest

import files
import torture

pytestmark = pytest.mark.skipif(
    "BENCH_SANITIZER" in os.environ, reason="sanitizers have an allocator of their own"
)

SCRIPT = """
local con, insert
function thread_init()
  con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE t (id INTEGER PRIMARY KEY, c VARCHAR(40))")
  con:bulk_insert_init("INSERT INTO t (id, c) VALUES")
  for id = 1, 100 do con:bulk_insert_next(("(%d, 'x')"):format(id)) end
  con:bulk_insert_done()
  insert = con:prepare("UPDATE t SET c = ? WHERE id = ?")
  c = insert:bind_create(sysbench.sql.type.VARCHAR, 40)
  id = insert:bind_create(sysbench.sql.type.INT)
  insert:bind_param(c, id)
end
function event()
  con:query("BEGIN")
  c:set_rand_str("@@@###") id:set(sysbench.rand.uniform(1, 100))
  insert:execute()
  local rs = con:query("SELECT id, c FROM t WHERE id < 10")
  for i = 1, rs.nrows do rs:fetch_row() end
  con:query("COMMIT")
end
function thread_done() insert:close() con:disconnect() end
"""
SHORT = ("--events=10", "--threads=2", "--report-interval=0", "run")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return torture.build(tmp_path_factory.mktemp("torture"))


@pytest.mark.parametrize("kind", ("alloc", "write"))
@pytest.mark.parametrize("workload", ("cpu", "fileio", "script"))
def test_a_call_that_fails(library, tmp_path, workload, kind):
    if workload == "cpu":
        command = ["cpu", "--cpu-max-prime=100", *SHORT]
    elif workload == "fileio":
        files.prepare(tmp_path)
        command = ["fileio", *files.SIZES, "--file-test-mode=rndrw", *SHORT]
    else:
        (tmp_path / "script.lua").write_text(SCRIPT)
        command = ["script.lua", "--db-driver=sqlite", "--sqlite-db=:memory:", *SHORT]
    torture.Torture(library, kind, command, tmp_path).all()
