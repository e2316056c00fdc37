-- SPDX-License-Identifier: GPL-2.0-or-later
-- The normal distribution and Student's t agree with closed forms, with the integral of the density
-- where there is none, and with values of published tables.

local t = require("tests")
local native = require("study.native")
local student = require("study.stats.student")

local function near(what, got, want, error)
  t.ok(math.abs(got - want) <= error, ("%s: %.17g, not %.17g"):format(what, got, want))
end

-- Returns the integral of the density of t from 0 to x, by Simpson's rule.
local function integral(x, dof)
  local n = 20000
  local scale = math.exp(native.lgamma((dof + 1) / 2) - native.lgamma(dof / 2))
    / math.sqrt(dof * math.pi)
  local function density(at)
    return scale * (1 + at * at / dof) ^ (-(dof + 1) / 2)
  end
  local sum = density(0) + density(x)
  for i = 1, n - 1 do sum = sum + density(x * i / n) * (i % 2 == 1 and 4 or 2) end
  return sum * x / (3 * n)
end

return {
  -- With one degree of freedom t is Cauchy's, with two it has a closed form.
  ["the distribution has its closed forms"] = function()
    for _, x in ipairs{-1e6, -31.8, -3, -1, -1e-9, 0, 1e-3, 0.5, 2, 12.7, 1e4} do
      near("1", student.cdf(x, 1), 0.5 + math.atan(x) / math.pi, 1e-12)
      near("2", student.cdf(x, 2), 0.5 + x / (2 * math.sqrt(2 + x * x)), 1e-12)
    end
    t.equal(student.cdf(-math.huge, 3), 0)
    t.equal(student.cdf(math.huge, 3), 1)
  end,

  ["the distribution is the integral of its density"] = function()
    for _, dof in ipairs{0.7, 2.5, 7, 11, 19.25, 62, 1e3} do
      for _, x in ipairs{0.01, 0.8, 2.2, 5} do
        near("above", student.cdf(x, dof), 0.5 + integral(x, dof), 1e-10)
        near("below", student.cdf(-x, dof), 0.5 - integral(x, dof), 1e-10)
      end
    end
  end,

  ["quantiles are those of tables"] = function()
    near("t 0.975, 1", student.quantile(0.975, 1), 12.706204736432095, 1e-9)
    near("t 0.975, 5", student.quantile(0.975, 5), 2.5705818366147395, 1e-9)
    near("t 0.99, 11", student.quantile(0.99, 11), 2.7180791835, 1e-8)
    near("t 0.025, 30", student.quantile(0.025, 30), -2.0422724563012373, 1e-9)
    near("t 0.5, 4", student.quantile(0.5, 4), 0, 1e-12)
    near("z 0.975", student.normal_quantile(0.975), 1.959963984540054, 1e-12)
    near("z 0.01", student.normal_quantile(0.01), -2.3263478740408408, 1e-12)
    near("z 0.999", student.normal_quantile(0.999), 3.090232306167813, 1e-12)
  end,

  ["quantiles invert the distribution"] = function()
    for _, p in ipairs{1e-12, 1e-6, 0.001, 0.05, 0.4999, 0.7, 0.9999} do
      near("z", student.normal_cdf(student.normal_quantile(p)) / p, 1, 1e-9)
      for _, dof in ipairs{1, 3.5, 11, 31, 500} do
        near("t", student.cdf(student.quantile(p, dof), dof) / p, 1, 1e-9)
      end
    end
  end,
}
