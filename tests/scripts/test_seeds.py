# SPDX-License-Identifier: GPL-2.0-or-later
"""The same --rand-seed gives every session the same numbers, whatever the measuring options are."""
import os
import re
import subprocess

import gate
import pytest

BENCH = os.environ.get("BENCH", "bench")

SCRIPT = """
function thread_init(id)
  draws = {}
end
function event(id)
  for i = 1, 3 do
    draws[#draws + 1] = string.format("%d", sysbench.rand.uniform(1, 1000000000))
  end
  draws[#draws + 1] = string.format("%d", sysbench.rand.default(1, 100000))
  draws[#draws + 1] = sysbench.rand.string("##@@")
  return #draws >= 20
end
function thread_done(id)
  local f = io.open("out." .. id, "w")
  f:write(table.concat(draws, " "))
  f:close()
end
"""

VARIANTS = [[], ["--percentile=0"], ["--percentile=50,99.9"], ["--histogram"],
            ["--report-interval=1"], ["--clock=vdso"], ["--verbosity=0"], ["--debug"],
            ["--report-checkpoints=1"], ["--rate=100000"]]


def draw(tmp_path, seed, threads, options):
    done = subprocess.run([BENCH, "draw.lua", "--threads=%d" % threads, "--rand-seed=%d" % seed,
                           "--time=60"] + options + ["run"], cwd=tmp_path, check=False, timeout=120,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # 4: the machine cannot keep up with --rate.
    assert done.returncode == 0 or (done.returncode == 4 and any("--rate" in o for o in options))
    result = []
    for i in range(threads):
        path = tmp_path / ("out.%d" % i)
        result.append(path.read_text())
        path.unlink()
    return result


@pytest.mark.parametrize("runs", gate.first([len(VARIANTS), 100]))
def test_runs_agree(tmp_path, runs):
    (tmp_path / "draw.lua").write_text(SCRIPT)
    first = draw(tmp_path, 42, 32, [])
    assert len(set(first)) == 32
    for run in range(runs):
        assert draw(tmp_path, 42, 32, VARIANTS[run % len(VARIANTS)]) == first, run


def test_sessions_do_not_depend_on_their_number(tmp_path):
    (tmp_path / "draw.lua").write_text(SCRIPT)
    assert draw(tmp_path, 7, 2, []) == draw(tmp_path, 7, 5, [])[:2]


def test_other_seeds_differ(tmp_path):
    (tmp_path / "draw.lua").write_text(SCRIPT)
    assert draw(tmp_path, 1, 2, []) != draw(tmp_path, 2, 2, [])


def test_no_seed_differs(tmp_path):
    """Two runs in the same second draw different numbers."""
    (tmp_path / "draw.lua").write_text(SCRIPT)
    runs = []
    for _ in range(2):
        subprocess.run([BENCH, "draw.lua", "run"], cwd=tmp_path, check=True, timeout=120,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        runs.append((tmp_path / "out.0").read_text())
    assert runs[0] != runs[1]


def test_the_heading_names_the_seed_that_repeats_the_run(tmp_path):
    (tmp_path / "draw.lua").write_text(SCRIPT)
    done = subprocess.run([BENCH, "draw.lua", "--threads=3", "run"], cwd=tmp_path, check=True,
                          timeout=120, capture_output=True, text=True)
    drawn = [(tmp_path / ("out.%d" % i)).read_text() for i in range(3)]
    [seed] = re.findall(r"^Random numbers from a new seed "
                        r"\(--rand-seed=([1-9]\d*) repeats them\)$", done.stdout, re.MULTILINE)
    assert draw(tmp_path, int(seed), 3, []) == drawn
