-- SPDX-License-Identifier: GPL-2.0-or-later
-- Fetches two rows, of which the second may be malformed, and uses the connection again.
function prepare()
  local con = sysbench.sql.driver():connect()
  local rs = con:query("SELECT 1")
  print(rs.nrows, rs:fetch_row()[1], pcall(rs.fetch_row, rs))
  print(pcall(con.query, con, "SELECT 2"))
end
