-- SPDX-License-Identifier: GPL-2.0-or-later
-- What studies in Lua get from C: children, files, numbers, texts, options.

local native = require("study.native")
local t = require("tests")

local function file(text)
  local path = native.temp_folder() .. "/file"
  t.ok(native.replace(path, text))
  return path
end

return {
  ["what a failure quotes is escaped"] = function()
    t.raises(function() native.fail("'%s' is\n%d", "a\27[b\200", 7) end, "'a\\x1b[b\\xc8' is\\x0a7")
    t.raises(function() native.fail("%s", ("\1"):rep(600)) end, ("\\x01"):rep(127))
    t.raises(function() native.check(nil, "100 %\27") end, "100 %\\x1b")
    t.equal({native.check("a", "b")}, {"a", "b"})
  end,
  ["a child has a status or a signal"] = function()
    t.equal(native.child{argv = {"sh", "-c", "exit 3"}}, {status = 3, timed_out = false})
    t.equal(native.child{argv = {"sh", "-c", "kill -9 $$"}}, {signal = 9, timed_out = false})
    t.equal(native.child{argv = {"sleep", "60"}, limit_s = 0.1}, {signal = 15, timed_out = true})
  end,
  ["a child has input and output"] = function()
    local done = native.child{argv = {"cat"}, input = "a\0b\n", capture = true}
    t.equal(done.output, "a\0b\n")
    t.equal(native.child{argv = {"cat"}, capture = true}.output, "")
    local path = file("")
    native.child{argv = {"sh", "-c", "echo x; echo y >&2"}, out = path, errors = path}
    t.equal(native.read(path), "x\ny\n")
  end,
  ["numbers in texts are those of C"] = function()
    t.equal(("%.2f %.0f %.1f"):format(0.125, 2.5, 0.25), "0.12 2 0.2")
    t.equal(("[%8.2f|%-8.3g|%+.1f|%e]"):format(-1.125, 2.5, 0.25, 1.5),
      "[   -1.12|2.5     |+0.2|1.500000e+00]")
    t.equal(("%g%% of %s, %5d, %q"):format(0.1, "x", 7, "y"), '0.1% of x,     7, "y"')
    t.equal(#("%.99f"):format(1.7976931348623157e308), 309 + 1 + 99)
    t.equal(("%f %g"):format(1 / 0, "1e3"), "inf 1000")
    t.raises(function() return ("%.2f"):format("x") end, "number expected")
    t.raises(function() return ("%.2f %.2f"):format(1) end, "value expected")
  end,
  ["a child that is not there"] = function()
    local done, why = native.child{argv = {"/nonexistent/x"}}
    t.ok(done == nil)
    t.equal(why, "cannot start '/nonexistent/x': No such file or directory")
  end,
  ["files are read and replaced"] = function()
    local path = file("one")
    t.equal(native.read(path), "one")
    t.equal(native.size(path), 3)
    t.equal({native.size(path .. "x")},
            {nil, "cannot find the size of '" .. path .. "x': No such file or directory"})
    t.equal({native.read(path, 2)}, {nil, "cannot read '" .. path .. "': it is too large"})
    t.equal(native.kind(path), "file")
    t.ok(native.remove(path))
    t.equal(native.kind(path), nil)
    local text, reason = native.read(path)
    t.ok(text == nil)
    t.equal(reason, "cannot read '" .. path .. "': No such file or directory")
    local ok, why = native.replace("/nonexistent/x", "")
    t.ok(ok == nil)
    t.equal(why, "cannot write '/nonexistent/x': No such file or directory")
  end,
  ["two names of a file"] = function()
    local path = file("")
    local folder = path:match("^(.*)/")
    t.equal(native.is_same_file(path, folder .. "/./file"), true)
    t.equal(native.is_same_file(path, folder .. "/other"), false)
    t.equal(native.is_same_file(folder .. "/new", folder .. "/./new"), true)
  end,
  ["folders are made and listed"] = function()
    local folder = native.temp_folder() .. "/new"
    t.ok(native.mkdir(folder))
    t.ok(native.mkdir(folder))
    t.equal(native.kind(folder), "folder")
    for _, name in ipairs{"10.json", "9.json", ".hidden"} do
      t.ok(native.replace(folder .. "/" .. name, ""))
    end
    t.equal(native.list(folder), {".hidden", "9.json", "10.json"})
  end,
  ["a folder is locked once"] = function()
    local folder = native.temp_folder()
    local lock = native.lock(folder)
    local none, why = native.lock(folder)
    t.ok(none == nil)
    t.equal(why, "--out=" .. folder .. ": another sweep uses this folder now")
    lock:release()
    t.ok(native.lock(folder))
  end,
  ["streams of random numbers follow from the seed"] = function()
    local function draw(...)
      local rng = native.rng(...)
      return {rng:below(1000), rng:below(1000), rng:real() < 1}
    end
    t.equal(draw(1), draw(1))
    t.equal(draw(1), draw(1, 0, "study"))
    t.ok(draw(1)[1] ~= draw(2)[1] or draw(1)[2] ~= draw(2)[2])
    t.ok(draw(1)[1] ~= draw(1, 1)[1] or draw(1)[2] ~= draw(1, 1)[2])
    t.ok(draw(1)[1] ~= draw(1, 0, "command")[1] or draw(1)[2] ~= draw(1, 0, "command")[2])
    t.equal(draw(9007199254740993LL), draw(9007199254740993LL))
    t.raises(function() draw(1, 0, "work") end, "no streams have the purpose work")
    -- 0xd42f4e6224906665 is the first number of this stream in tests/unit/test_rng.c.
    local first = tonumber(bit.rshift(0xd42f4e6224906665ULL, 11)) * 2 ^ -53
    t.equal(native.rng(42, 0, "workload"):real(), first)
    t.equal(native.rng(42, 0, "workload"):below(1000), math.floor(first * 1000))
    t.ok(native.entropy() < 2 ^ 53)
  end,
  ["functions of libm"] = function()
    t.close(native.lgamma(10), math.log(362880))
    t.close(native.erfc(1), 0.15729920705028513)
    t.close(native.log1p(1e-12), 1e-12)
    t.close(native.expm1(1e-12), 1e-12)
  end,
  ["numbers with units"] = function()
    t.equal({native.number("16K"), native.number("1e3"), native.number("1.5")}, {16384, 1000, 1.5})
    t.ok(native.number("x") == nil and native.real("16K") == nil and native.bytes("1.5") == nil)
    t.equal({native.real("-2.5"), native.bytes("1M")}, {-2.5, 1048576})
    t.equal(native.seconds("20ms"), 0.02)
    t.equal({native.shortest(0.1), native.shortest(5)}, {"0.1", "5"})
  end,
  ["texts for a terminal"] = function()
    t.equal(native.escape("a\27[1mb"), "a\\x1b[1mb")
    t.equal(native.escape("abc", 3), "ab")
    t.raises(function() native.escape("abc", 0) end, "a size of 1 or more was expected")
    t.equal(native.escape_markdown("a|b"), "a\\|b")
    t.equal(native.words("--a=1 'b c'"), {"--a=1", "b c"})
    t.equal(native.groups("a: x 'b;c'; d: y"), {{"a:", "x", "b;c"}, {"d:", "y"}})
    t.equal(native.groups("a 'b"), {{}})
    local none, why = native.words("'a")
    t.ok(none == nil and why ~= nil)
  end,
  ["secrets are masked"] = function()
    t.equal(native.mask("--mysql-password=x"), "--mysql-password=***")
    t.equal(native.mask("--connect=mysql://u:x@h"), "--connect=mysql://u:***")
    t.equal(native.mask("--threads=4"), "--threads=4")
    t.equal(native.mask_text("SET PASSWORD = x"), "SET PASSWORD ***")
    t.equal(native.mask_text("SET GLOBAL innodb_ft_max_token_size = 10"),
      "SET GLOBAL innodb_ft_max_token_size = 10")
  end,
  ["a program that cannot be run"] = function()
    t.equal(native.executable(native.program), true)
    t.equal({native.executable(file(""))}, {nil, "Permission denied"})
  end,
  ["options of runs"] = function()
    t.equal(native.option("threads").name, "threads")
    t.equal(native.option("tx_rate").alias_of, "rate")
    t.equal(native.option("max-requests").default, "0")
    t.equal(native.option("max-requests", "0.5").default, "10000")
    t.ok(native.option("nothing") == nil)
    t.equal(native.option("config-file").traits.fixed, true)
    t.equal(native.read_traits(512), {keeps_data = true})
    t.equal(native.read_traits(0), {})
    t.equal(native.check_option("threads", "4"), true)
    t.equal(native.check_option("nothing", "x"), true)
    local ok, why = native.check_option("threads", "x")
    t.ok(ok == nil and why:find("--threads", 1, true), why)
  end,
  ["words of options that stand elsewhere"] = function()
    local options = {{name = "repeat", type = "int", def = "3", min = 1, max = 9, help = "x"},
                     {name = "stop-when", type = "string", help = "x"},
                     {name = "vary", type = "list", repeats = true, help = "x"}}
    local words = {"cpu", "--repeat=5", "--vary=a", "--vary=b", "--x"}
    local values, given, rest = native.parse(options, words)
    t.equal(values, {["repeat"] = 5, vary = {"a", "b"}})
    t.equal(given, {["repeat"] = true, vary = true, stop_when = false})
    t.equal(rest, {"cpu", "--x"})
    local none, why = native.parse(options, {"--repeat=10"})
    t.ok(none == nil and why:find("--repeat=10", 1, true), why)
  end,
  ["sets of options are freed before their values"] = function()
    local sets = {}
    for n = 1, 40 do
      local options, words = {}, {}
      for i = 1, n do
        options[i] = {name = "vary" .. i, type = "list", repeats = true, help = "x"}
        words[i] = ("--vary%d=%s"):format(i, ("x"):rep(i))
      end
      sets[n] = {options, words}
    end
    -- Lua puts later values in the place of those that it has freed.
    for i = 1, 4000 do
      local options, words = unpack(sets[i * 7 % 40 + 1])
      t.equal(#native.parse(options, words).vary1, 1)
    end
  end,
  ["an option that is declared twice is named"] = function()
    local rounds = {name = "rounds", type = "int", help = "x"}
    t.raises(function() native.parse({rounds, rounds}, {}) end, "--rounds")
  end,
  ["files of settings"] = function()
    local path = file("# a comment\none = cpu run\n\ntwo = 'a b' # end\n")
    t.equal(native.settings(path), {{name = "one", line = 2, words = {"cpu", "run"}},
                                    {name = "two", line = 4, words = {"a b"}}})
  end,
  ["names of figures and assertions"] = function()
    t.equal(native.figure("p99"), {text = "p99", unit = "s", scale = 1000, shown_unit = "ms",
                                   better = "less", is_rate = false})
    t.equal(native.figure("rate").better, "more")
    local none, why = native.figure("nothing")
    t.ok(none == nil and why ~= nil)
    local a = native.assertion("p99@read<2ms")
    t.equal({a.what, a.rank, a.timing}, {"percentile", 99, "read"})
    t.equal({a.op, a.limit, a.unit}, {"<", 2, "ms"})
  end,
  ["a failure is a text where it is caught"] = function()
    t.raises(function() native.fail("%d is %s", 5, "odd") end, "5 is odd")
  end,
}
