# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that no password of a mistyped command line or file is printed or stored."""

import itertools
import json
import os
import pty
import re
import signal
import subprocess
import termios

import pytest

import bench
from gate import diagonal

SECRET = "Zq9-hunter2"
# Two forms are enough to look for faults of memory.
DIALECTS = ("own", "0.5") if os.environ.get("BENCH_SANITIZER") else ("own", "1.1", "1.0", "0.5")

# Each is given before and after the test; S stands for the secret.
SPELLINGS = [
    "--mysqlpassword=S",
    "--mysql-passwd=S",
    "--mysql-pwd=S",
    "--password=S",
    "--api-token=S",
    "--MYSQL-PASSWORD=S",
    "--mysql-password:S",
    "--mysql-password-prompt=S",
    "--dsn=user:x,password=S",
    "--conect=mysql://u:S=x",
    "--connect mysql://u:S",
    "-connect=mysql://u:S",
    "-mysql-password=S",
    "-password=S",
    "-pS",
    "mysql-password=S",
    "mysql-pasword=S",
    "--mysql-password S",
    "--mysql-pasword S",
    "--mysql-password= S",
    "--mysql-password = S",
    "--mysql-password 'two S",
    "--pgsql-password S",
    "--nosuch S",
    "-mysql-password S",
    "-p S",
]
# In a dialect, these are shown as by sysbench.
OWN_SPELLINGS = [
    "--mysql-pasword=S",
    "--mysql_pasword=S",
    "--nosuch=S",
    "--nosuch:S=x",
    "-mysql-pasword=S",
]


def lines(spelling, dialect, test):
    """The command lines that have it in each place."""
    words = [re.sub(r"S$|S(?==x)", SECRET, word) for word in spelling.split(" ")]
    own = [f"--test={test}", "run"] if dialect == "0.5" else [test, "run"]
    quick = ["--max-requests=1"] if dialect == "0.5" else ["--events=1"]
    yield [*words, *own, *quick]
    yield [own[0], *words, own[1], *quick]
    yield [*own, *quick, *words]
    yield [own[0], *quick, *words]
    yield [*words]


def check(args, dialect, cwd, secret=SECRET):
    got = bench.run(*args, dialect=dialect, cwd=cwd)
    assert secret not in got.out, (args, got.out)
    assert secret not in got.err, (args, got.err)
    return got


@pytest.mark.parametrize("spelling, dialect", [
    *diagonal(SPELLINGS, DIALECTS), *((spelling, "own") for spelling in OWN_SPELLINGS)])
def test_a_password_is_not_printed(spelling, dialect, tmp_path):
    for args in lines(spelling, dialect, "cpu"):
        check([*args, "--cpu-max-prime=3"], dialect, tmp_path)


@pytest.mark.parametrize("words", [
    "cpu --URI", "cpu --report=URI", "cpu --assert=URI", "cpu --watch=URI", "cpu --label=URI", "cpu --threads=URI",
    "cpu --file-num=URI", "cpu --rate-profile=URI", "URI a@1", "--group=a:x URI", "cpu --hosts=URI",
    "cpu --hosts-file=URI", "cpu --config-file=URI", "cpu --compat=URI",
])
def test_a_uri_in_a_wrong_place_is_masked(words, tmp_path):
    """Each message shows what the value begins with, and no password."""
    got = check([*words.replace("URI", f"mysql://u:{SECRET}@h").split(" "), "run"], "own", tmp_path)
    assert got.status == 1 and "***" in got.err


@pytest.mark.parametrize("args, said", [
    (["mysql://u:S@10.0.0.1"], "mysql://u:***: the weight of a workload must be a number"),
    (["oltp_read_only@1", "mysql://u:S@10.0.0.1"], "mysql://u:***: the weight of a workload must be a number"),
    (["oltp_read_only@1", "mysql://u:S@h"], "mysql://u:***: each of several workloads needs a weight"),
    (["--group=a: mysql://u:S@h s.lua"], "--group=a: 'mysql://u:***' and a further word stand for its script"),
    (["--threads=", "mysql://u:S@h", "cpu"], "(did you mean --threads=mysql://u:***?)"),
    (["--db-driver", "mysql://u:S@h", "cpu"], "(did you mean --db-driver=mysql://u:***?)"),
    (["-db-driver=mysql://u:S@h", "cpu"], "(did you mean --db-driver=mysql://u:***?)"),
    (["db-driver=mysql://u:S@h", "cpu"], "(did you mean --db-driver=mysql://u:***?)"),
])
def test_a_uri_among_the_words_is_masked(args, said, tmp_path):
    """Each message shows what the word or the value begins with, and no password."""
    got = check([*(arg.replace("S", SECRET) for arg in args), "run"], "own", tmp_path)
    assert got.status == 1 and said in got.err, got.err


# Some have a word of those that announce a secret, some cannot be mistaken for more of a name.
ODD = ["MySecret", "my-token-9", "password1", "$ecret!", "/x/y", "'quoted'"]


@pytest.mark.parametrize("secret", ODD)
def test_what_the_password_is_made_of_changes_nothing(secret, tmp_path):
    for name in ("--mysql-pasword", "--mysql-password", "--nosuch"):
        for parting in ("=", ":", " "):
            words = f"{name}{parting}{secret}".split(" ")
            check(["cpu", *words, "run", "--events=1"], "own", tmp_path, secret)
            check(["cpu", "run", "--events=1", *words], "own", tmp_path, secret)
    for line in (f"mysql-pasword={secret}", f"nosuch:{secret}=x", f"mysql-pasword '{secret}'"):
        (tmp_path / "c.cfg").write_text(f"{line}\nmysql-password'quoted'\n")
        got = check(["--config-file=c.cfg", "cpu", "--events=1", "run"], "own", tmp_path, secret)
        assert "quoted" not in got.err and "c.cfg:" in got.err


# Old scripts take any option, so that these run; a document keeps what they were given.
OLD = "function event() local x = oltp_table_size end\n"
NEW = """
sysbench.cmdline.options = {
  ["db-passwd"] = {"of another database", ""},
  ["db-token"] = {"of another database", "", sysbench.cmdline.ARG_STRING, function() end}
}
function event() end
"""


@pytest.mark.parametrize("spelling, dialect", diagonal(
    [s for s in SPELLINGS + OWN_SPELLINGS if " " not in s], DIALECTS))
def test_a_password_is_not_stored(spelling, dialect, tmp_path):
    (tmp_path / "old.lua").write_text(OLD)
    for i, args in enumerate(lines(spelling, dialect, "./old.lua")):
        got = bench.run(*args, f"--report=json:{i}", dialect=dialect, cwd=tmp_path)
        assert dialect != "own" or SECRET not in got.out + got.err
    documents = [p for p in tmp_path.glob("[0-9]*") if p.stat().st_size > 0]
    # 1.0 and 0.5 accept options that nobody knows, as they know no switch of bench.
    accepted = spelling.startswith("--") and dialect in ("0.5", "1.0")
    assert len(documents) == (3 if accepted else 0)
    for document in documents:
        assert SECRET not in document.read_text()


def test_options_that_a_script_reads_are_stored(tmp_path):
    """Those that its text does not have are not: they may be mistyped ones."""
    (tmp_path / "old.lua").write_text("function event() local x, y = num_passes, my_password end\n")
    given = {"num-passes": "3", "my-password": "x", "num-pases": "4"}
    got = bench.run("--test=./old.lua", *(f"--{n}={v}" for n, v in given.items()),
                    "--max-requests=1", "--report=json:json", "run", dialect="0.5", cwd=tmp_path)
    assert (got.status, got.err) == (0, "")
    stored = {o["name"]: (o.get("value"), o.get("secret", False))
              for o in json.loads((tmp_path / "json").read_text())["facts"]["options"]}
    assert [stored[name] for name in given] == [("3", False), (None, True), (None, True)]
    # A script with old names takes any option natively too, and names those that it does not read.
    (tmp_path / "old.lua").write_text(OLD + "function f() sb_rand(1, 2) end\n")
    got = bench.run("--test=./old.lua", "--mode=passive", "--events=1", "run", cwd=tmp_path)
    assert "--mode" in got.err and "passive" not in got.err


@pytest.mark.sanitized
def test_options_of_a_script_are_judged_by_their_names(tmp_path):
    (tmp_path / "new.lua").write_text(NEW)
    got = check(["./new.lua", f"--db-passwd={SECRET}", "--events=1", "--report=json:json", "run"],
                "own", tmp_path)
    assert got.status == 0
    text = (tmp_path / "json").read_text()
    assert SECRET not in text
    row = [o for o in json.loads(text)["facts"]["options"] if o["name"] == "db-passwd"]
    assert [(o.get("value"), o["secret"]) for o in row] == [(None, True)]
    for dialect, sentence in (("own", "--db-token=***: the script refuses this value\n"),
                              ("1.0", "invalid option: --db-token=***\n")):
        got = check(["./new.lua", f"--db-token={SECRET}", "run"], dialect, tmp_path)
        assert got.err == sentence


def test_a_number_is_no_secret(tmp_path):
    """A refused number or switch is shown, whatever its name, unless it may be a password."""
    (tmp_path / "s.lua").write_text(
        "sysbench.cmdline.options = {num_tokens = {'', 1}, ask_password = {'', false},\n"
        "  db_passwd = {'', 'x'}}\n"
        "function event() end\n")
    for arg, sentence in (("--num-tokens=abc", "--num-tokens=abc: not a number"),
                          ("--ask-password=Zq9", "--ask-password=***: neither on nor off")):
        got = bench.run("./s.lua", arg, "--events=1", "run", dialect="own", cwd=tmp_path)
        assert got.status == 1
        assert got.err.startswith(sentence), got.err
        got = bench.run("./s.lua", arg, "--events=1", "run", dialect="1.0", cwd=tmp_path)
        assert "Zq9" not in got.err


FILES = [
    f"mysql-pasword={SECRET}\n",
    f"mysql-pasword: {SECRET}\n",
    f"mysql-pasword {SECRET}\n",
    f"mysql-password {SECRET}=x\n",
    f"mysql-pasword:{SECRET}=x\n",
    f"mysql-password '{SECRET}' = x\n",
    f"mysql-password='{SECRET}\n",
    f"mysql-password={SECRET} {SECRET}\n",
    f"mysql-password-prompt={SECRET}\n",
    f"password={SECRET}\n",
    f"  --mysql-pwd={SECRET}\n",
]


@pytest.mark.parametrize("text, dialect", diagonal(FILES, DIALECTS))
def test_a_line_of_a_file_is_not_printed(text, dialect, tmp_path):
    (tmp_path / "old.lua").write_text(OLD)
    (tmp_path / "c.cfg").write_text(text)
    document = tmp_path / "json"
    for test, args in itertools.product(("cpu", "./old.lua"), ([], ["--report=json:json"])):
        own = [f"--test={test}"] if dialect == "0.5" else [test]
        document.write_text("")
        check(["--config-file=c.cfg", *own, *args, "--cpu-max-prime=3", "--time=1", "--events=1",
               "--max-requests=1", "--verbosity=5", "run"], dialect, tmp_path)
        # bench's own dialect refuses a file with a bad value, and it and 1.1 refuse old scripts.
        runs = (dialect in ("1.0", "0.5") or test == "cpu") and (
            dialect != "own" or not ("-prompt=" in text or "='" in text))
        assert (document.stat().st_size > 0) == (runs and bool(args))
        assert SECRET not in document.read_text()


@pytest.mark.parametrize(
    "args, own, old",
    [
        ("cpu --mysql-pasword=S run", "--mysql-pasword=***: no such option; did you mean "
         "--mysql-password?\n", "invalid option: --mysql-pasword=S\n"),
        ("cpu --mysql-passwd=S run", "--mysql-passwd=***: no such option; did you mean "
         "--mysql-password?\n", "invalid option: --mysql-passwd=***\n"),
        ("--mysql-password S cpu run", "Unrecognized command line argument: run (did you mean "
         "--mysql-password=***?)\n", None),
        ("--mysql-password S run", "FATAL: Cannot find benchmark '***': no such built-in test, file "
         "or module\n", None),
        ("--nosuch S run", "FATAL: Cannot find benchmark '***': no such built-in test, file or module\n",
         None),
        ("cpu --mysql-password S", "Unknown command: *** (did you mean --mysql-password=***?)\n", None),
        ("cpu --mysql-password --threds=2 run", "--threds=***: no such option; did you mean --threads?\n",
         "invalid option: --threds=2\n"),
        # What is meant for its place is shown.
        ("cpu --mysql-password rnu", "Unknown command: rnu (did you mean run?)\n", None),
        *((f"--{name}=a mybench run", "FATAL: Cannot find benchmark 'mybench': no such built-in test, "
           "file or module\n", None) for name in ("nosuch", "mysql-password")),
        ("cpu -threads=2", "unknown argument '-threads=2' (did you mean --threads=2?)", None),
        ("cpu -threds=2", "unknown argument '-threds=***' (did you mean --threads=***?)", None),
        ("--mysql-pw 1234567 cpu run", "Unrecognized command line argument: run (did you mean "
         "--mysql-pw=***?)\n", None),
        ("-mysql-password=S", "unknown argument '-mysql-password=***' (did you mean "
         "--mysql-password=***?)\n", None),
        ("cpu mysql-password=S run", "Unrecognized command line argument: run (did you mean "
         "--mysql-password=***?)\n", None),
        ("cpu mysql-pasword=S", "Unknown command: *** (did you mean --mysql-password=***?)\n", None),
        ("cpu run -pS", "Unrecognized command line argument: -p***\n", None),
    ],
)
def test_the_sentence_stays(args, own, old, tmp_path):
    for dialect, sentence in (("own", own), ("1.1", old or own), ("1.0", old or own)):
        got = bench.run(*(a.replace("S", SECRET) for a in args.split(" ")), dialect=dialect, cwd=tmp_path)
        sentence = sentence.replace("=S", f"={SECRET}")
        assert (SECRET in got.out + got.err) == (SECRET in sentence)
        if dialect != "own":
            sentence = re.sub(r" \(did you mean [^()]*\?\)", "", sentence)
        assert sentence in got.err + got.out
        assert got.status == 1


# --- questions: kind 31 of issue 37 ---


PROMPT = ("oltp_point_select", "--time=1", "run")


URI = f"mysql://u:{SECRET}@h"


@pytest.mark.parametrize("args, said", [
    (["--db-driver=mysql", f"--db-read-hosts={URI}"], "--db-read-hosts=mysql://u:***: not a server"),
    (["--db-driver=mysql", f"--mysql-host={URI}"], "--mysql-host: this is a URI, not a host; use --connect=URI"),
    (["--db-driver=pgsql", f"--pgsql-host={URI}"], "--pgsql-host: this is a URI, not a host; use --connect=URI"),
    ([f"--db-driver={URI}"], "--db-driver=mysql://u:***: unknown"),
    ([f"--threads={URI}"], "--threads=mysql://u:***: not a whole number"),
    ([f"--label={URI}"], "--label=mysql://u:***: not KEY=VALUE"),
])
def test_a_uri_in_the_wrong_option_is_not_printed(args, said, tmp_path):
    driver = args[0].rpartition("=")[2]
    if driver in ("mysql", "pgsql") and \
            not os.path.exists(os.path.join(os.path.dirname(bench.binary()), f"../lib/bench/drivers/{driver}.so")):
        pytest.skip("built without the driver")
    assert said in check(["oltp_read_only", *args, "run"], "own", tmp_path).err


def test_a_password_in_the_value_of_another_option_is_not_stored(tmp_path):
    got = check(["cpu", f"--mysql-host={URI}", f"--db-init-sql=SET x.password = '{SECRET}'", "--events=1",
                 f"--label=job=https://ci:{SECRET}@host/7", f"--label=token={SECRET}", "--label=commit=1a2b",
                 f"--label=mysql://u:{SECRET}=x@h",
                 "--report=text", "--report=json:json", "run"], "own", tmp_path)
    assert "mysql://u:***" in got.out
    document = (tmp_path / "json").read_text()
    assert SECRET not in document
    assert json.loads(document)["facts"]["labels"] == {"job": "https://ci:***", "token": "***", "commit": "1a2b",
                                                        "mysql://u:***": ""}


def at_prompt(folder, keys, *args):
    """Types keys at the question for the password or sends signals, and returns (what the terminal has shown,
    the status, echo)."""
    keys = list(keys)
    terminal, other = pty.openpty()
    process = subprocess.Popen(["setsid", "--ctty", bench.binary(), *args], cwd=folder, stdin=other,
                               stdout=other, stderr=other, env=bench.environment())
    os.close(other)
    shown = b""
    try:
        while chunk := os.read(terminal, 4096):
            shown += chunk
            if keys and b" password: " in shown:
                key = keys.pop(0)
                if isinstance(key, bytes):
                    os.write(terminal, key)
                else:
                    process.send_signal(key)
                shown = b""
    except OSError:
        pass
    status = process.wait(bench.TIMEOUT_S)
    echo = termios.tcgetattr(terminal)[3] & termios.ECHO
    os.close(terminal)
    assert not keys
    return shown.decode(), status, bool(echo)


@pytest.mark.parametrize("driver, port", [("mysql", "--mysql-port=1"), ("pgsql", "--pgsql-port=1")])
@pytest.mark.parametrize("keys, status", [
    ([b"\x03"], -2), ([b"gehe\x03"], -2), ([b"\x1c"], -3), ([b"\x04"], 1),
    ([b"\x1a", b"x\n"], 1), ([b"geheim\x7f\x15y\n"], 1),
    ([signal.SIGINT], 130), ([signal.SIGTERM], 143), ([signal.SIGHUP], 129),
])
def test_a_question_ends_at_once(tmp_path, driver, port, keys, status):
    """Without the answer, the run would hang; the key for a stop asks again."""
    if not os.path.exists(os.path.join(os.path.dirname(bench.binary()), f"../lib/bench/drivers/{driver}.so")):
        pytest.skip("built without the driver")
    host = f"--{driver}-host=127.0.0.1"
    shown, got, echo = at_prompt(
        tmp_path, keys, f"--db-driver={driver}", host, port, f"--{driver}-password-prompt", *PROMPT)
    assert got == status and echo and "gehe" not in shown, shown


@pytest.mark.parametrize("signo, how", [(signal.SIGINT, -2), (signal.SIGTERM, -15), (signal.SIGHUP, -1), (signal.SIGQUIT, -3)])
def test_a_question_before_the_run_ends_at_once(tmp_path, signo, how):
    """The top level of a script may ask; no thread receives signals then, and none is blocked."""
    (tmp_path / "ask.lua").write_text("sysbench.sql.driver('mysql')\nfunction event() end\n")
    shown, got, echo = at_prompt(tmp_path, [signo], "./ask.lua", "--mysql-password-prompt", "run")
    assert got == how and echo, shown


@pytest.mark.parametrize("study", [
    ("sweep", "--vary=threads=1,2", "--out=s"), ("sweep", "--vary=threads=1,2", "--out=s", "--prepare"),
    ("ab",), ("search", "--goal=p99<1s"),
])
def test_a_study_does_not_ask(tmp_path, study):
    """A child cannot read the terminal, and would be stopped for ever."""
    args = PROMPT if study[0] != "search" else ("oltp_point_select", "run")
    shown, got, echo = at_prompt(tmp_path, [], *study, "--mysql-password-prompt", *args)
    assert got == 1 and echo, shown
    assert "cannot ask for the password: no terminal; name a file that has it" in shown
