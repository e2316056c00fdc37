-- SPDX-License-Identifier: GPL-2.0-or-later
-- A workload of sleeping events that records when each of them began and ended.
--
-- Session N writes to the file record.N, which runs.py has made.  The file is mapped, so that it is
-- complete however the program ends.  It is an array of struct timespec, of CLOCK_MONOTONIC: the
-- beginning of the loop, the beginning and the end of thread_done, one that is not used, and then
-- the beginning and the end of each event.  What has not happened is 0.

local C, cmdline = ffi.C, sysbench.cmdline
local MONOTONIC, ABSOLUTE, EINTR = 1, 1, 4
local RDWR, READ_WRITE, SHARED = 2, 3, 1
local BYTES, HEAD = 2 ^ 20, 4
local LAST = BYTES / 16 - 2
-- No event ends so close to a time that has to be kept clear, in seconds.  Loops of many threads
-- begin some ms apart.
local MARGIN = 0.02
local FOREVER = 1e6

-- All times are in seconds since the loop of the session began, unless their text says otherwise.
cmdline.options = {
  lengths = {"lengths of the events, in ms", "20"},
  clear = {"times at which no event ends", ""},
  ["stall-at"] = {"time after which no event ends", 0.0},
  ["stall-end"] = {"time at which all sessions go on", 0.0},
  stuck = {"number of sessions that get stuck", 0},
  ["stuck-at"] = {"time after which they do", 0.0},
  closing = {"seconds that thread_done takes", 0.0},
  connects = {"whether each session connects to a database, of which it asks nothing", false}
}

ffi.cdef [[
int open(const char *, int, ...);
int close(int);
void *mmap(void *, size_t, int, int, int, long);
int clock_gettime(int, long *);
int clock_nanosleep(int, int, const long *, long *);
]]

local opt, record, wake, lengths, clear, connection
local count = 0

local function numbers(text)
  local list = {}
  for word in text:gmatch("[^,]+") do
    list[#list + 1] = assert(tonumber(word), word)
  end
  return list
end

local function map(name)
  local fd = C.open(name, RDWR)
  assert(fd >= 0, name)
  local at = C.mmap(nil, BYTES, READ_WRITE, SHARED, fd, 0)
  C.close(fd)
  assert(at ~= ffi.cast("void *", -1), name)
  return ffi.cast("long (*)[2]", at)
end

-- The time is written where it belongs, without a detour.
local function stamp(i)
  C.clock_gettime(MONOTONIC, record[i])
end

local function seconds(i)
  return tonumber(record[i][0] - record[0][0]) + tonumber(record[i][1] - record[0][1]) * 1e-9
end

local function sleep_until(s)
  local ns = tonumber(record[0][1]) + s * 1e9
  local whole = math.floor(ns / 1e9)
  wake[0] = record[0][0] + whole
  wake[1] = ns - whole * 1e9
  repeat
    local rc = C.clock_nanosleep(MONOTONIC, ABSOLUTE, wake, nil)
  until rc ~= EINTR
end

-- When the event ends that began at that time.
local function plan(id, begun)
  if id < opt.stuck and begun >= opt.stuck_at then
    return FOREVER
  end
  if begun >= opt.stall_at and begun < opt.stall_end then
    return opt.stall_end
  end
  local ends = begun + lengths[(3 * id + 7 * count) % #lengths + 1] * 1e-3
  for _, time in ipairs(clear) do
    if math.abs(ends - time) < MARGIN then
      return time + MARGIN
    end
  end
  return ends
end

function thread_init(id)
  opt = sysbench.opt
  lengths, clear = numbers(opt.lengths), numbers(opt.clear)
  wake = ffi.new("long[2]")
  record = map("record." .. id)
  if opt.connects then
    connection = sysbench.sql.driver():connect()
  end
end

local preset_run = thread_run

function thread_run(id)
  stamp(0)
  return preset_run(id)
end

function event(id)
  local i = HEAD + 2 * count
  assert(i < LAST, "the record is full")
  stamp(i)
  sleep_until(plan(id, seconds(i)))
  stamp(i + 1)
  count = count + 1
end

function thread_done()
  stamp(1)
  if opt.closing > 0 then
    sleep_until(seconds(1) + opt.closing)
  end
  stamp(2)
end
