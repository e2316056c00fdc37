-- SPDX-License-Identifier: GPL-2.0-or-later
-- Makes the tables of the other workloads in `run`, one event of each thread, as in sysbench 0.5.
-- Their own `prepare` does so too.

local old = require("common")

local is_done = false

thread_init = old.thread_init

local function prepare_tables_of(thread_id)
  is_done = true
  print("thread prepare" .. thread_id)
  old.create_tables_of(thread_id)
end

-- Runs with --events=THREADS; further events of a thread do nothing.
function event(thread_id)
  if is_done then
    return true
  end
  prepare_tables_of(thread_id)
end

-- The threads share the events, so a fast one may have taken the event that was meant for this one.
function thread_done(thread_id)
  if not is_done then
    prepare_tables_of(thread_id)
  end
end
