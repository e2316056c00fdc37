# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of bench sweep share: short runs, and readers of the folder of a sweep."""

import csv
import json

import bench

CPU = ("cpu", "--time=0", "--events=20", "--cpu-max-prime=10", "run")
SQLITE = ("oltp_read_write", "--db-driver=sqlite", "--sqlite-db=x.db", "--tables=1", "--time=0",
          "--events=4")


OWN = """
sysbench.cmdline.options = {rows = {"rows", 1}, hot = {"rows that are read", 1, keeps_data = %s}}
function prepare() print("rows", sysbench.opt.rows) end
function cleanup() end
function event() end
"""


def sweep(folder, *args, **kwargs):
    return bench.run("sweep", "--out=s", *args, cwd=folder, **kwargs)


def study(folder):
    return json.loads((folder / "s/study.json").read_text())


def table(folder):
    return json.loads((folder / "s/table.json").read_text())


def rows(folder):
    with open(folder / "s/table.csv", newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def results(folder):
    """{name: document} of all runs."""
    return {f"runs/{p.name}": json.loads(p.read_text()) for p in (folder / "s/runs").glob("*.json")}


def options(document):
    return {o["name"].replace("_", "-"): o["value"] for o in document["facts"]["options"]}


def total(document):
    return document["groups"][0]["total"]["figures"]
