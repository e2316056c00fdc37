-- SPDX-License-Identifier: GPL-2.0-or-later
-- The Universal Scalability Law: how the rate follows from the number of threads.
--
-- Neil J. Gunther, "A Simple Capacity Model of Massively Parallel Transaction Systems" (CMG 1993)
-- and "Guerrilla Capacity Planning" (2007):
--
--   X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))
--
-- gamma is the rate of one thread, alpha the share of the work that threads do one after the other
-- (contention), and beta the cost of keeping each pair of threads coherent (crosstalk).
--
-- The fit is the nonlinear least squares of log X, because the errors of rates are relative, with
-- alpha and beta of 0 or more; the method is that of Levenberg (1944) and Marquardt (1963).  The
-- intervals follow from the linearized model at the solution and Student's t with n - 3 degrees of
-- freedom (Seber and Wild, "Nonlinear Regression", 1989, 5.1), for gamma on the scale of logs, and
-- end at 0.

local student = require("study.stats.student")

local exp, log, max, sqrt = math.exp, math.log, math.max, math.sqrt

-- A fit needs `least` rates.
local usl = {least = 4}

-- Parameters are lists of three, of which gamma is a logarithm.
local gamma, alpha, beta, parameters = 1, 2, 3, 3
local steps_max = 500

local function divisor(theta, n)
  return 1 + theta[alpha] * (n - 1) + theta[beta] * n * (n - 1)
end

-- Returns log X - log X(N); NaN: the law says nothing for these parameters.
local function residual(data, theta, i)
  local n = data.threads[i]
  local by = divisor(theta, n)
  return by > 0 and log(data.rate[i]) - theta[gamma] - log(n) + log(by) or 0 / 0
end

-- Returns the sum of the squared residuals; NaN, which is less than no sum, where the law says
-- nothing.
local function sum_of_squares(data, theta)
  local sum = 0
  for i = 1, #data.threads do
    local r = residual(data, theta, i)
    sum = sum + r * r
  end
  return sum
end

-- Returns the normal equations: a symmetric matrix and the right side.
local function derive(data, theta)
  local a, b = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, {0, 0, 0}
  for i = 1, #data.threads do
    local n, r = data.threads[i], residual(data, theta, i)
    local by = divisor(theta, n)
    local slope = {1, -(n - 1) / by, -n * (n - 1) / by}
    for k = 1, parameters do
      b[k] = b[k] + slope[k] * r
      for j = 1, parameters do a[k][j] = a[k][j] + slope[k] * slope[j] end
    end
  end
  return a, b
end

-- A parameter that is held does not move.
local function hold(a, b, held)
  for k in pairs(held) do
    for j = 1, parameters do
      a[k][j], a[j][k] = 0, 0
    end
    a[k][k], b[k] = 1, 0
  end
end

-- Returns the solution, by Cholesky's decomposition of the matrix with a diagonal of 1, because the
-- parameters differ by powers of ten.  The diagonal may be damped: it is multiplied by `by`.
-- nil: there is no solution.
local function solve(a, b, by)
  local l, scale, x = {}, {}, {}
  for k = 1, parameters do scale[k] = sqrt(a[k][k] * by) end
  for k = 1, parameters do
    l[k] = {}
    for j = 1, k do
      local sum = (k == j and a[k][k] * by or a[k][j]) / (scale[k] * scale[j])
      for i = 1, j - 1 do sum = sum - l[k][i] * l[j][i] end
      if k == j and not (sum > 1e-14) then return nil end
      l[k][j] = k == j and sqrt(sum) or sum / l[j][j]
    end
  end
  for k = 1, parameters do
    x[k] = b[k] / scale[k]
    for i = 1, k - 1 do x[k] = x[k] - l[k][i] * x[i] end
    x[k] = x[k] / l[k][k]
  end
  for k = parameters, 1, -1 do
    for i = k + 1, parameters do x[k] = x[k] - l[i][k] * x[i] end
    x[k] = x[k] / l[k][k]
  end
  for k = 1, parameters do x[k] = x[k] / scale[k] end
  return x
end

-- Returns parameters with fewer squares, the damping of the next step, and whether more steps may
-- help; nil: there are no better parameters.
local function step(data, theta, held, damping)
  local now, a, b = sum_of_squares(data, theta), derive(data, theta)
  hold(a, b, held)
  while damping < 1e12 do
    local move = solve(a, b, 1 + damping)
    if move then
      local following = {}
      for k = 1, parameters do following[k] = theta[k] + move[k] end
      local sum = sum_of_squares(data, following)
      if sum < now then return following, max(damping / 10, 1e-12), now - sum > 1e-15 * now end
    end
    damping = damping * 10
  end
  return nil
end

-- Returns the parameters with the least squares, and their sum.  Those held are 0.
local function fit(data, held)
  local damping, last, n = 1e-3, 0, #data.threads
  for i = 1, n do last = max(last, data.threads[i]) end
  local theta = {0, held[alpha] and 0 or 0.05, held[beta] and 0 or 0.5 / (last * last)}
  local at = 0
  for i = 1, n do
    at = at + (log(data.rate[i] / data.threads[i]) + log(divisor(theta, data.threads[i]))) / n
  end
  theta[gamma] = at
  for _ = 1, steps_max do
    local following, damped, more = step(data, theta, held, damping)
    theta, damping = following or theta, damped
    if not more then break end
  end
  return theta, sum_of_squares(data, theta)
end

-- Returns the parameters with the least squares and alpha and beta of 0 or more, and their sum: the
-- best of those with none, one or both of them held at 0.
local function fit_bounded(data)
  local best, least = nil, math.huge
  for _, held in ipairs{{}, {[alpha] = true}, {[beta] = true}, {[alpha] = true, [beta] = true}} do
    local theta, sum = fit(data, held)
    if sum < least and theta[alpha] >= 0 and theta[beta] >= 0 then
      best, least = theta, sum
    end
  end
  return best, least
end

-- Confidence --------------------------------------------------------------------------------------

-- Returns the inverse of the matrix, or nil.
local function invert(a)
  local out = {}
  for k = 1, parameters do
    local unit = {0, 0, 0}
    unit[k] = 1
    out[k] = solve(a, unit, 1)
    if not out[k] then return nil end
  end
  return out
end

-- Returns a value with its interval, which does not go below 0.
local function from_zero(value, half)
  return {value = value, low = max(0, value - half), high = value + half}
end

-- Returns a value with its interval, from its logarithm and half the width of that one's interval.
local function by_log(value, half)
  return {value = exp(value), low = exp(value - half), high = exp(value + half)}
end

-- Returns the rate that a fit expects.
function usl.rate(law, threads)
  return law.gamma.value * threads / divisor({0, law.alpha.value, law.beta.value}, threads)
end

-- Adds the peak, whose interval is that of its log, by the delta method.
local function find_peak(law, theta, cov, factor)
  local a, b = theta[alpha], theta[beta]
  if a >= 1 or b <= 2 ^ -1022 or (1 - a) / b < 1 then return end
  local by_alpha, by_beta = -0.5 / (1 - a), -0.5 / b
  local variance = by_alpha * by_alpha * cov[alpha][alpha] + by_beta * by_beta * cov[beta][beta]
    + 2 * by_alpha * by_beta * cov[alpha][beta]
  law.peak = by_log(0.5 * log((1 - a) / b), factor * sqrt(max(0, variance)))
  -- Without crosstalk there would be no peak.
  if law.beta.low <= 0 then
    law.peak.low = max(1, sqrt((1 - a) / law.beta.high))
    law.peak.high = math.huge
  end
  law.peak_rate = usl.rate(law, law.peak.value)
end

-- Returns which share of the variance of the rates the law explains.  It is below 0 if their mean
-- would explain more, and 0 if all rates are equal.
local function r_squared(data, law)
  local n, mean, all, missed = #data.rate, 0, 0, 0
  for i = 1, n do mean = mean + data.rate[i] / n end
  for i = 1, n do
    local off, miss = data.rate[i] - mean, data.rate[i] - usl.rate(law, data.threads[i])
    all, missed = all + off * off, missed + miss * miss
  end
  return all > 0 and 1 - missed / all or 0
end

-- Fits the law to lists of n different numbers of threads, 1 or more, and of the rate of each.
-- Returns
--
--   {gamma, alpha, beta = {value, low, high}, with the 95 % confidence interval,
--    peak = the number of threads with the largest rate, as gamma, which need not be whole, and
--      peak_rate; nil: there is no such number of 1 or more,
--    r_squared = of the rates themselves}
--
-- or nil: there are fewer than `least` rates, one of them is 0, or no parameters explain them.
function usl.fit(threads, rate)
  local n, data = #threads, {threads = threads, rate = rate}
  for i = 1, n do
    if not (rate[i] > 0 and threads[i] >= 1) then return nil end
  end
  if n < usl.least then return nil end
  local theta, sum = fit_bounded(data)
  local cov = theta and invert((derive(data, theta)))
  if not cov then return nil end
  local factor = student.quantile(0.975, n - parameters) * sqrt(sum / (n - parameters))
  local law = {
    gamma = by_log(theta[gamma], factor * sqrt(cov[gamma][gamma])),
    alpha = from_zero(theta[alpha], factor * sqrt(cov[alpha][alpha])),
    beta = from_zero(theta[beta], factor * sqrt(cov[beta][beta])),
  }
  find_peak(law, theta, cov, factor)
  law.r_squared = r_squared(data, law)
  return law
end

return usl
