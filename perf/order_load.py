#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Speed of `order_entry prepare` against the server's own client, which loads ready files of the same rows.

Starts private servers. Both sides load the same warehouses with as many sessions, each warehouse in a
transaction, then make the same indexes in two sessions and the same statistics. The files are in memory if
/dev/shm has room. Runs alternate; prints the median of the ratios of the pairs, of the times and of the
processor times of client and server. Environment: see README.md; PERF_WAREHOUSES, PERF_THREADS."""

import os
import subprocess
import sys
import tempfile
import time

import lib

PAIRS = lib.setting("PERF_PAIRS", 3)
WAREHOUSES = lib.setting("PERF_WAREHOUSES", 2)
THREADS = lib.setting("PERF_THREADS", 2)
WANTED = 0.9

# Tables of a warehouse in the order of loading, with the column of the warehouse.
TABLES = {"warehouse": "w_id", "district": "d_w_id", "stock": "s_w_id", "customer": "c_w_id", "history": "h_w_id",
          "orders": "o_w_id", "new_order": "no_w_id", "order_line": "ol_w_id"}
INDEXES = ["CREATE INDEX customer_name ON customer (c_w_id, c_d_id, c_last, c_first)",
           "CREATE INDEX orders_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)"]
DROP_INDEXES = {"mysql": "DROP INDEX customer_name ON customer; DROP INDEX orders_customer ON orders;",
                "pgsql": "DROP INDEX customer_name; DROP INDEX orders_customer;"}
STATISTICS = {"mysql": "ANALYZE TABLE {};", "pgsql": "VACUUM ANALYZE {};"}


def client(server):
    """The command of the server's client, which reads statements from standard input."""
    if server.driver == "mysql":
        return [server.client(), "--no-defaults", f"--socket={server.socket}", "--user=root", "--local-infile=1",
                "--batch", "--skip-column-names", "--quick", "spec_db"]
    return ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", server.folder, "-p", str(server.port),
            "-U", "postgres", "-d", "spec_db"]


def sessions(server, texts):
    """Runs each text in a session of its own, all at once."""
    running = []
    for text in texts:
        process = subprocess.Popen(client(server), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.stdin.write(text)
        process.stdin.close()
        running.append(process)
    for process in running:
        process.stdout.read()
        if process.wait() != 0:
            sys.exit(f"{server.kind}: the client failed")


def load_text(server, folder, part):
    """The statement that loads a file NAME.n into table NAME."""
    table = part.partition(".")[0]
    if server.driver == "mysql":
        return f"LOAD DATA LOCAL INFILE '{folder}/{part}' INTO TABLE {table} CHARACTER SET latin1;\n"
    return f"\\copy {table} FROM '{folder}/{part}'\n"


def export(server, folder):
    """Writes the files: a table of a warehouse each, and items in as many parts as there are sessions."""
    size = -(-100000 // THREADS)
    parts = {f"{table}.{w}": (table, f"{column} = {w}") for table, column in TABLES.items()
             for w in range(1, WAREHOUSES + 1)}
    parts |= {f"item.{n}": ("item", f"i_id > {n * size} AND i_id <= {(n + 1) * size}") for n in range(THREADS)}
    for part, (table, where) in parts.items():
        select = f"SELECT * FROM {table} WHERE {where}"
        text = select if server.driver == "mysql" else f"COPY ({select}) TO STDOUT"
        with open(f"{folder}/{part}", "w+b") as out:
            subprocess.run(client(server), input=f"{text};\n".encode(), stdout=out, check=True)
            if server.driver == "mysql":
                # The client writes NULL as a word, which LOAD DATA reads as text.
                out.seek(0)
                data = out.read().replace(b"\tNULL\t", b"\t\\N\t")
                out.seek(0)
                out.truncate()
                out.write(data)


def load_files(server, folder):
    """As prepare does: items, the warehouses, indexes, statistics."""
    sessions(server, [load_text(server, folder, f"item.{n}") for n in range(THREADS)])
    sessions(server, ["".join("BEGIN;\n" + "".join(load_text(server, folder, f"{table}.{w}") for table in TABLES)
                              + "COMMIT;\n" for w in range(n, WAREHOUSES + 1, THREADS))
                      for n in range(1, THREADS + 1)])
    sessions(server, [text + ";\n" for text in INDEXES])
    names = [*TABLES, "item"]
    sessions(server, ["\n".join(STATISTICS[server.driver].format(name) for name in names[n::THREADS]) + "\n"
                      for n in range(THREADS)])


def processor_s(server):
    """The processor time of the server so far, of sessions that have ended too."""
    total, parents = 0, [server.process.pid]
    for pid in parents:
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                fields = f.read().rpartition(")")[2].split()
            with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as f:
                parents += f.read().split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def measured(server, work):
    """(seconds, processor seconds of the server and of the clients)"""
    used, own, began = processor_s(server), os.times(), time.monotonic()
    work()
    elapsed = time.monotonic() - began
    time.sleep(0.2)
    now = os.times()
    clients = now.children_user + now.children_system - own.children_user - own.children_system
    return elapsed, processor_s(server) - used + clients


def main():
    rows = lib.Rows(f"order_entry prepare, {WAREHOUSES} warehouses, {THREADS} sessions, against ready files",
                    "server   rows/s  files/s  ratio (all)              processor")
    count = 100000 + WAREHOUSES * 499011
    for server, login in lib.each_server():
        argv = [lib.bench(), "order_entry", *login, f"--warehouses={WAREHOUSES}", f"--threads={THREADS}"]
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        with tempfile.TemporaryDirectory(dir=place) as folder:
            os.chmod(folder, 0o755)
            lib.run([*argv, "--rand-seed=1", "--order-check=none", "prepare"])
            export(server, folder)

            def by_bench():
                lib.run([*argv, "cleanup"])
                return measured(server, lambda: lib.run([*argv, "--rand-seed=1", "--order-check=none", "prepare"]))

            def by_client():
                truncate = "".join(f"TRUNCATE {table};\n" for table in [*TABLES, "item"])
                sessions(server, [truncate + DROP_INDEXES[server.driver] + "\n"])
                return measured(server, lambda: load_files(server, folder))

            pairs = lib.alternate(PAIRS, by_client, by_bench)
        ratio, found = lib.ratios([(files[0], ours[0]) for files, ours in pairs])
        cpu, _ = lib.ratios([(files[1], ours[1]) for files, ours in pairs])
        files, ours = lib.middle([(files[0], ours[0]) for files, ours in pairs])
        rows.add(server.kind, f"{server.kind:8} {count / ours:6.0f}  {count / files:7.0f}  {ratio:.2f} "
                 f"({', '.join(f'{x:.2f}' for x in found)})  {cpu:.2f}", ratio >= WANTED)
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
