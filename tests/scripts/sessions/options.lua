-- SPDX-License-Identifier: GPL-2.0-or-later
-- Options of the script, which it changes; each session has values of its own.

sysbench.cmdline.options = {
  steps = {"Statements in an event", 3},
  words = {"Words", {"red", "green", "blue"}},
  ["with-end"] = {"A last statement", true},
  text = {"A text", "none"},
}

function thread_init(tid)
  con = sysbench.sql.driver():connect()
  sysbench.opt.steps = tid % 4 + 1
  sysbench.opt.own = "of " .. tid
  sysbench.opt.words[#sysbench.opt.words + 1] = "word" .. tid
end

function event(tid)
  local o = sysbench.opt
  for _ = 1, o.steps do
    con:query(("SELECT '%s'"):format(o.words[sysbench.rand.uniform(1, #o.words)]))
  end
  if o.with_end then
    con:query(("SELECT '%s', '%s'"):format(o.text, o.own))
  end
  assert(#o.words == 4 and o.words[4] == "word" .. tid)
  print(("[%d]"):format(tid), o.steps, o.own, o.threads, sysbench.cmdline.command)
end
