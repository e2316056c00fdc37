-- Module "sysbench.report": the ready-made interval reports a script may use as hooks.
local internal = ...
local format = string.format
local write, stdout = io.stdout.write, io.stdout
-- In sysbench this line, unlike the built-in one, has no colon here.
local err_s = internal.dialect() and "err/s" or "err/s:"

local report = {}

-- The latency is a text, because its number of decimals depends on the dialect.
local function rates(stat)
  local s = stat.time_interval
  return stat.events / s, (stat.reads + stat.writes + stat.other) / s, stat.reads / s,
    stat.writes / s, stat.other / s,
    internal.latency(stat.events > 0 and stat.latency_pct * 1000 or 0), stat.errors / s,
    stat.reconnects / s
end

function report.csv(stat)
  write(stdout, format("%.0f,%u,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%s,%4.2f,%4.2f\n",
    stat.time_total, stat.threads_running, rates(stat)))
end

-- A time that is not whole, as that of a run is, has its fraction; sysbench rounds it.
local function seconds(time)
  return format((internal.dialect() or time == math.floor(time)) and "%4.0f" or "%.4f", time)
end

-- internal.json_next() returns whether an object of the array was written before; the array is
-- closed when reporting ends.
function report.json(stat)
  local tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
  write(stdout, (internal.json_next() and ",\n" or "[\n") .. format([[
  {
    "time": %s,
    "threads": %u,
    "tps": %4.2f,
    "qps": {
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    },
    "latency": %s,
    "errors": %4.2f,
    "reconnects": %4.2f
  }]], seconds(stat.time_total), stat.threads_running, tps, qps, reads, writes, other, latency,
    errors, reconnects))
end

function report.default(stat)
  local tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
  write(stdout, format("[ %.0fs ] thds: %u tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) " ..
    "lat (ms,%s%%): %s %s %4.2f reconn/s: %4.2f\n", stat.time_total, stat.threads_running,
    tps, qps, reads, writes, other, internal.percentile(), latency, err_s, errors, reconnects))
end

return report
