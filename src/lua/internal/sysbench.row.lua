-- Module "sysbench.row": rows of bulk inserts whose values are written in C, with random values of
-- a stream that belongs to the row; and random texts for statements.
local internal = ...
internal.declare("row")
local ffi = internal.ffi
local C = internal.C
local error, type, tostring, floor = error, type, tostring, math.floor
local MOST, LONGEST, DECIMALS = 2 ^ 53, 2 ^ 20, 15
local length = ffi.new("size_t[1]")

local function refuse(method, wanted, value)
  error(("%s: expected %s, got %s"):format(method, wanted, tostring(value)), 3)
end

local function is_whole(value, least, most)
  return type(value) == "number" and value >= least and value <= most and floor(value) == value
end

local function are_lengths(min, max)
  return is_whole(min, 0, LONGEST) and is_whole(max, min, LONGEST)
end

local methods = {}

-- Returns a whole number from a to b.
function methods:uniform(a, b)
  if not (is_whole(a, -MOST, MOST) and is_whole(b, a, MOST)) then
    refuse("uniform", "two whole numbers in order", tostring(a) .. " and " .. tostring(b))
  end
  return C.bn_ffi_row_uniform(self, a, b)
end

function methods:null()
  C.bn_ffi_row_null(self)
end

-- decimals: n is in units of 10^-decimals; nil: a whole number
function methods:number(n, decimals)
  if not is_whole(n, -MOST, MOST) then
    refuse("number", "a whole number", n)
  elseif decimals ~= nil and not is_whole(decimals, 0, DECIMALS) then
    refuse("number", "0 to 15 decimals", decimals)
  end
  C.bn_ffi_row_number(self, n, decimals or 0)
end

-- Adds a text in quotes.
function methods:text(text)
  if type(text) ~= "string" then
    refuse("text", "a string", text)
  elseif not C.bn_ffi_row_text(self, text, #text) then
    refuse("text", "no backslash and no zero byte, which databases read in different ways", text)
  end
end

-- Returns a method that adds a random text of min to max characters.  A word, if one is given,
-- stands somewhere in it.
local function random(kind, name)
  return function (self, min, max, word)
    max, word = max or min, word or ""
    if not are_lengths(min, max) then
      refuse(name, "two lengths in order", tostring(min) .. " and " .. tostring(max))
    elseif #word > min then
      refuse(name, "a word of at most " .. min .. " characters", word)
    end
    C.bn_ffi_row_random(self, kind, min, max, word, #word)
  end
end

-- Returns the function of sysbench.rand, which draws from the session's stream.
local function random_text(kind, name)
  return function (min, max)
    max = max or min
    if not are_lengths(min, max) then
      refuse(name, "two lengths in order", tostring(min) .. " and " .. tostring(max))
    end
    return ffi.string(C.bn_ffi_rand_text(kind, min, max, length), length[0])
  end
end

local texts = {}
for name, kind in pairs({ alnum = 0, digits = 1, letters = 2 }) do
  methods[name] = random(kind, name)
  texts[name] = random_text(kind, name)
end

-- Ends the row.  Returns its text.
function methods:take()
  return ffi.string(C.bn_ffi_row_end(self, length), length[0])
end

local row_type = ffi.metatype("sql_row_text", {
  __index = methods,
  __tostring = function () return "<sql_row_text>" end
})

-- seed, stream: whole numbers; equal ones give equal values
local function new(seed, stream)
  if not (is_whole(seed, 0, MOST) and is_whole(stream, 0, MOST)) then
    refuse("sysbench.row", "a seed and the number of a stream",
           tostring(seed) .. " and " .. tostring(stream))
  end
  return ffi.gc(C.bn_ffi_row_new(seed, stream), C.bn_ffi_row_free)
end

-- Ends the row for bulk_insert_next.  Returns its text in C and the length, or nil if the value is
-- something else.
local function take(row)
  if not ffi.istype(row_type, row) then
    return nil
  end
  return C.bn_ffi_row_end(row, length), length[0]
end

return { new = new, take = take, texts = texts }
