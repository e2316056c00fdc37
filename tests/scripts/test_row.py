# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows the rows of sysbench.row: the form of their values, their random texts and what is refused."""
import re

import pytest

import chi


def lines_of(folder, body, *args):
    r = folder.run(f"function event() {body} end", "--events=1", *args)
    assert r.status == 0, r.err
    return [line[2:] for line in r.lines if line.startswith("> ")]


def test_values_and_rows(folder):
    assert lines_of(folder, """
local row = sysbench.row(7, 1)
for _, n in ipairs{{0}, {-12}, {5, 4}, {-1000, 2}, {2^53}, {-2^53, 15}} do row:number(n[1], n[2]) end
row:null() row:text("") row:text("it's") print("> " .. row:take())
row:number(1) print("> " .. row:take())
print("> " .. tostring(row))""") == [
        "(0,-12,0.0005,-10.00,9007199254740992,-9.007199254740992,NULL,'','it''s')", "(1)", "<sql_row_text>"]


def test_the_seed_and_the_stream_decide(folder):
    """The session's stream does not move."""
    body = """local function texts(seed, stream)
  local row = sysbench.row(seed, stream)
  row:alnum(20) row:digits(1, 9) row:number(row:uniform(1, 1e9))
  return row:take()
end
print("> " .. texts(7, 1)) print("> " .. texts(7, 1)) print("> " .. texts(7, 2)) print("> " .. texts(8, 1))
print("> " .. sysbench.rand.uniform(1, 1e9))"""
    first = lines_of(folder, body, "--rand-seed=1")
    assert first[0] == first[1] and len(set(first[:4])) == 3
    assert first[4:] == lines_of(folder, "print('> ' .. sysbench.rand.uniform(1, 1e9))", "--rand-seed=1")


def test_texts_are_uniform(folder):
    """Lengths, characters and places of a word, each by chi-square at 1 %."""
    texts = [line[2:-2] for line in lines_of(folder, """
local row = sysbench.row(40, 0)
for _ = 1, 20000 do row:alnum(8, 26, "WORD!") print("> " .. row:take()) end""")]
    lengths = [sum(len(text) == n for text in texts) for n in range(8, 27)]
    assert sum(lengths) == 20000 and chi.fits(lengths, chi.uniform(19))
    full = [text for text in texts if len(text) == 26]
    places = [sum(text.find("WORD!") == at for text in full) for at in range(22)]
    assert sum(places) == len(full) and chi.fits(places, chi.uniform(22))
    for method, alphabet in (("alnum", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
                             ("digits", "0123456789"), ("letters", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")):
        (text,) = lines_of(folder, f"local row = sysbench.row(40, 1) row:{method}(200000) print('> ' .. row:take())")
        text = text[2:-2]
        assert chi.fits([text.count(c) for c in alphabet], chi.uniform(len(alphabet)))
        # Characters of one draw, and neighbours of two draws, do not depend on each other.
        half = len(alphabet) // 2
        for shift in 1, 5, 6:
            pairs = [(alphabet.index(a) < half, alphabet.index(b) < half) for a, b in zip(text, text[shift:])]
            assert chi.fits([pairs.count((a, b)) for a in (True, False) for b in (True, False)], chi.uniform(4))


@pytest.mark.parametrize("call, why", [
    ("row:number(1.5)", "number: expected a whole number, got 1.5"),
    ("row:number(1, 16)", "number: expected 0 to 15 decimals, got 16"),
    ("row:text(7)", "text: expected a string, got 7"),
    ("row:text('a\\\\b')", "text: expected no backslash and no zero byte, which databases read in different ways"),
    ("row:alnum(5, 4)", "alnum: expected two lengths in order, got 5 and 4"),
    ("row:alnum(3, 9, 'word')", "alnum: expected a word of at most 3 characters, got word"),
    ("row:uniform(2, 1)", "uniform: expected two whole numbers in order, got 2 and 1"),
    ("sysbench.rand.alnum(5, 4)", "alnum: expected two lengths in order, got 5 and 4"),
    ("sysbench.rand.digits()", "digits: expected two lengths in order, got nil and nil"),
    ("sysbench.row(-1, 0)", "sysbench.row: expected a seed and the number of a stream, got -1 and 0")])
def test_wrong_calls_are_refused(folder, call, why):
    r = folder.run(f"function event()\nlocal row = sysbench.row(1, 1)\n{call}\nend", "--events=1")
    assert r.status == 1 and f"t.lua:3: {why}" in r.err


@pytest.mark.parametrize("name, pattern, n_characters", [
    ("alnum", "[a-zA-Z0-9]*", 62), ("digits", "[0-9]*", 10), ("letters", "[a-zA-Z]*", 52)])
def test_texts_of_the_session(folder, name, pattern, n_characters):
    body = f"""local draw = sysbench.rand.{name}
for _ = 1, 200 do print("> " .. draw(3, 9)) end
print("> " .. draw(5000)) print("> " .. draw(0))"""
    first = lines_of(folder, body, "--rand-seed=1")
    assert all(re.fullmatch(pattern, text) for text in first)
    assert {len(text) for text in first[:200]} == set(range(3, 10)) and len(set(first[:200])) > 190
    assert [len(text) for text in first[200:]] == [5000, 0] and len(set(first[200])) == n_characters
    assert first == lines_of(folder, body, "--rand-seed=1") != lines_of(folder, body, "--rand-seed=2")


def test_dialects_have_neither_rows_nor_texts(folder):
    assert "> nil\tnil" in folder.run("function event() print('> ' .. tostring(sysbench.row), sysbench.rand.alnum) end",
                                      "--events=1", BENCH_COMPAT="1.1").out
