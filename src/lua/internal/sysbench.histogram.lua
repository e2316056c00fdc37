-- Module "sysbench.histogram": histograms on a geometric grid, owned by the collector.
local internal = ...
internal.declare("hist")
local ffi = internal.ffi
local C = internal.C
local write, stdout = io.stdout.write, io.stdout

local histogram_methods = {}

local GRID = ffi.typeof("struct bn_geohist")

-- Returns the grid of a histogram; raises an error at the method's call for any other value.
local function grid_of(self, method)
  local grid = type(self) == "table" and self.grid
  if grid == nil or not ffi.istype(GRID, grid) then
    error(("%s: expected a histogram, got %s; the call is histogram:%s()")
          :format(method, type(self), method), 3)
  end
  return grid
end

-- Values outside the range count in the first or last bucket.
function histogram_methods:update(value)
  C.bn_ffi_hist_update(grid_of(self, "update"), value)
end

local length = ffi.typeof("size_t[1]")

function histogram_methods:print()
  local len = length()
  local text = C.bn_ffi_hist_text(grid_of(self, "print"), len)
  local table = ffi.string(text, len[0])
  C.bn_ffi_free(text)
  write(stdout, table)
end

local metatable = {
  __index = histogram_methods,
  -- sysbench has a text here, which then is called.
  __tostring = internal.dialect() and "<sb_histogram>" or function () return "<sb_histogram>" end
}

local histogram = {}

-- size buckets between min and max
function histogram.new(size, min, max)
  local grid = C.bn_ffi_hist_new(size, min, max)
  if grid == nil then
    error("sysbench.histogram.new: expected size >= 2 and 0 < min < max", 2)
  end
  return setmetatable({ grid = ffi.gc(grid, C.bn_ffi_hist_free) }, metatable)
end

return histogram
