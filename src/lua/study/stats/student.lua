-- SPDX-License-Identifier: GPL-2.0-or-later
-- The normal distribution and Student's t, by which the studies judge differences.
--
-- Errors of probabilities are below 1e-10 for up to 1,000 degrees of freedom, which need not be
-- whole (Welch).  Quantiles are for probabilities from 1e-12 to 1 - 1e-12.  Student's t follows
-- from the regularized incomplete beta function, which is evaluated as a continued fraction
-- (Abramowitz and Stegun 1964, 26.5.8) by the method of Lentz (1976) as modified by Thompson and
-- Barnett (1986).

local native = require("study.native")

local abs, exp, floor, log = math.abs, math.exp, math.floor, math.log
local erfc, lgamma = native.erfc, native.lgamma

local student = {}

local epsilon = 2 ^ -52
local tiny = 2 ^ -1022 / epsilon
local half_root = math.sqrt(0.5)
local terms_max, bisections = 10000, 200

-- Returns x, or a tiny number where a divisor would be 0, as Thompson and Barnett have it.
local function not_zero(x)
  return abs(x) < tiny and tiny or x
end

-- Returns the numerator d_m of the fraction 1 / (1 + d_1 / (1 + d_2 / (1 + …))).
local function numerator(m, a, b, x)
  local k = floor(m / 2)
  if m % 2 == 0 then return k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)) end
  return -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
end

-- Returns the value of that fraction, by the method of Lentz.
local function fraction(a, b, x)
  local f, c, d = 1, 1, 0
  for m = 1, terms_max - 1 do
    local n = numerator(m, a, b, x)
    d = 1 / not_zero(1 + n * d)
    c = not_zero(1 + n / c)
    f = f * (c * d)
    if abs(c * d - 1) < epsilon then break end
  end
  return 1 / f
end

-- Returns the function that has the probability P(T <= t).
local function distribution(dof)
  local a, b = dof / 2, 0.5
  local log_scale = lgamma(a + b) - lgamma(a) - lgamma(b)

  -- The incomplete beta function I(a, b) at x.  A subtraction would know y = 1 - x less exactly.
  local function beta(x, y)
    if x <= 0 then return 0 end
    if y <= 0 then return 1 end
    local scale = exp(log_scale + a * log(x) + b * log(y))
    if x < (a + 1) / (a + b + 2) then return scale * fraction(a, b, x) / a end
    return 1 - scale * fraction(b, a, y) / b
  end

  return function(t)
    local square = t * t
    local tail = beta(dof / (dof + square), square / (dof + square)) / 2
    return t > 0 and 1 - tail or tail
  end
end

-- Returns the x < 0 with the probability p below it.
local function bisect(cdf, p)
  local low, high = -1, 0
  while cdf(low) > p do
    low, high = 2 * low, low
  end
  for _ = 1, bisections do
    if high - low <= epsilon * -low then break end
    local middle = low + (high - low) / 2
    if cdf(middle) > p then
      high = middle
    else
      low = middle
    end
  end
  return low + (high - low) / 2
end

-- Both distributions are symmetric.
local function quantile(cdf, p)
  return p <= 0.5 and bisect(cdf, p) or -bisect(cdf, 1 - p)
end

-- Returns P(Z <= z).
function student.normal_cdf(z)
  return erfc(-z * half_root) / 2
end

-- Returns the z with P(Z <= z) = p.
function student.normal_quantile(p)
  return quantile(student.normal_cdf, p)
end

-- Returns P(T <= t).
function student.cdf(t, dof)
  return distribution(dof)(t)
end

-- Returns the t with P(T <= t) = p.
function student.quantile(p, dof)
  return quantile(distribution(dof), p)
end

return student
