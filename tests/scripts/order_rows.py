# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges the rows that `order_entry prepare` loads, by rules written down apart from the program."""
import math

import chi

SYLLABLES = "BAR OUGHT ABLE PRI PRES ESE ANTI CALLY ATION EING".split()
NAMES = {SYLLABLES[n // 100] + SYLLABLES[n // 10 % 10] + SYLLABLES[n % 10]: n for n in range(1000)}
ALNUM = sorted(map(ord, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))

# Functions of each database: the code of a character, the place of a word, a test of all characters.
CODE = {"mysql": "ASCII", "pgsql": "ASCII", "sqlite": "UNICODE"}
PLACE = {"mysql": "INSTR(BINARY {0}, 'ORIGINAL')", "pgsql": "STRPOS({0}, 'ORIGINAL')",
         "sqlite": "INSTR({0}, 'ORIGINAL')"}
STRANGE = {"mysql": "{0} REGEXP '[^a-zA-Z0-9]'", "pgsql": "{0} ~ '[^a-zA-Z0-9]'",
           "sqlite": "{0} GLOB '*[^a-zA-Z0-9]*'"}

# Columns whose numbers are uniform: table, column, factor to whole numbers, least, greatest, rows.
UNIFORM = [
    ("item", "i_im_id", 1, 1, 10000, ""),
    ("item", "i_price", 100, 100, 10000, ""),
    ("stock", "s_quantity", 1, 10, 100, ""),
    ("customer", "c_discount", 10000, 0, 5000, ""),
    ("orders", "o_carrier_id", 1, 1, 10, "WHERE o_id < 2101"),
    ("orders", "o_ol_cnt", 1, 5, 15, ""),
    ("order_line", "ol_i_id", 1, 1, 100000, ""),
    ("order_line", "FLOOR(ol_amount)", 1, 0, 9999, "WHERE ol_o_id > 2100"),
    ("order_line", "CAST(ROUND(ol_amount * 100) AS {int}) % 100", 1, 0, 99, "WHERE ol_o_id > 2100"),
]

# Columns of letters and digits: table, column, least and greatest length, whether the length is
# drawn.
TEXTS = [
    ("item", "i_name", 14, 24), ("item", "i_data", 26, 50), ("warehouse", "w_name", 6, 10),
    ("warehouse", "w_street_1", 10, 20), ("warehouse", "w_street_2", 10, 20), ("warehouse", "w_city", 10, 20),
    ("warehouse", "w_state", 2, 2), ("warehouse", "w_zip", 9, 9), ("district", "d_name", 6, 10),
    ("district", "d_street_1", 10, 20), ("district", "d_street_2", 10, 20), ("district", "d_city", 10, 20),
    ("district", "d_state", 2, 2), ("district", "d_zip", 9, 9), ("customer", "c_first", 8, 16),
    ("customer", "c_street_1", 10, 20), ("customer", "c_street_2", 10, 20), ("customer", "c_city", 10, 20),
    ("customer", "c_state", 2, 2), ("customer", "c_zip", 9, 9), ("customer", "c_phone", 16, 16),
    ("customer", "c_data", 300, 500), ("history", "h_data", 12, 24), ("order_line", "ol_dist_info", 24, 24),
    ("stock", "s_data", 26, 50), *(("stock", f"s_dist_{n:02}", 24, 24) for n in range(1, 11)),
]

# Characters that are uniform: column, place, codes.
CHARACTERS = [
    *((table, column, place, ALNUM) for table, column, place in (
        ("customer", "c_first", 1), ("customer", "c_first", 8), ("customer", "c_data", 1), ("customer", "c_data", 177),
        ("customer", "c_data", 300), ("history", "h_data", 12), ("item", "i_name", 7), ("order_line", "ol_dist_info", 1),
        ("order_line", "ol_dist_info", 6), ("order_line", "ol_dist_info", 7), ("order_line", "ol_dist_info", 24),
        ("stock", "s_dist_01", 1), ("stock", "s_dist_10", 24))),
    *(("customer", column, place, list(range(48, 58))) for column, place in (
        ("c_phone", 1), ("c_phone", 16), ("c_zip", 1), ("c_zip", 4))),
]

# What holds in every row: table, condition of a wrong row.
WRONG = [
    ("item", "i_id NOT BETWEEN 1 AND 100000"),
    ("warehouse", "w_tax NOT BETWEEN 0 AND 0.2 OR w_ytd <> 300000 OR w_zip NOT LIKE '%11111'"),
    ("district", "d_id NOT BETWEEN 1 AND 10 OR d_tax NOT BETWEEN 0 AND 0.2 OR d_ytd <> 30000 "
                 "OR d_next_o_id <> 3001 OR d_zip NOT LIKE '%11111'"),
    ("customer", "c_id NOT BETWEEN 1 AND 3000 OR c_middle <> 'OE' OR c_credit NOT IN ('BC', 'GC') "
                 "OR c_credit_lim <> 50000 OR c_balance <> -10 OR c_ytd_payment <> 10 OR c_payment_cnt <> 1 "
                 "OR c_delivery_cnt <> 0 OR c_zip NOT LIKE '%11111'"),
    ("history", "h_c_w_id <> h_w_id OR h_c_d_id <> h_d_id OR h_amount <> 10"),
    ("orders", "o_id NOT BETWEEN 1 AND 3000 OR o_all_local <> 1 OR (o_carrier_id IS NULL) <> (o_id > 2100)"),
    ("order_line", "ol_supply_w_id <> ol_w_id OR ol_quantity <> 5 OR (ol_delivery_d IS NULL) <> (ol_o_id > 2100) "
                   "OR ol_o_id < 2101 AND ol_amount <> 0 OR ol_o_id > 2100 AND ol_amount NOT BETWEEN 0.01 AND 9999.99"),
    ("new_order", "no_o_id NOT BETWEEN 2101 AND 3000"),
    ("stock", "s_ytd <> 0 OR s_order_cnt <> 0 OR s_remote_cnt <> 0"),
]

# Dates that another row has too.
SAME_DATES = [("history", "h_date", "customer", "c_since", "h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id"),
              ("order_line", "ol_delivery_d", "orders", "o_entry_d",
               "ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id")]


def binomial(hits, n, share):
    """Whether hits of n agree with the share, at 1 %."""
    return abs(hits - n * share) <= 2.576 * math.sqrt(n * share * (1 - share))


class Rows:
    """query(sql) returns the rows of a result as lists of texts."""

    def __init__(self, kind, query, warehouses):
        self.kind, self.query, self.w, self.bad = kind, query, warehouses, []

    def check(self, name, holds):
        if not holds:
            self.bad.append(name)

    def number(self, sql):
        return int(self.query(sql)[0][0])

    def counts(self, table, expression, where=""):
        rows = self.query(f"SELECT {expression}, COUNT(*) FROM {table} {where} GROUP BY 1")
        return {value: int(n) for value, n in rows}

    def fits(self, name, counts, shares):
        """counts and shares by value; a value without a share must not come."""
        self.check(name, set(counts) <= set(shares) and
                   chi.fits([counts.get(value, 0) for value in shares], list(shares.values())))

    def sizes(self):
        lines = self.number("SELECT SUM(o_ol_cnt) FROM orders")
        due = {"item": 100000, "warehouse": self.w, "district": 10 * self.w, "customer": 30000 * self.w,
               "history": 30000 * self.w, "orders": 30000 * self.w, "new_order": 9000 * self.w,
               "stock": 100000 * self.w, "order_line": lines}
        for table, n in due.items():
            self.check(f"rows of {table}", self.number(f"SELECT COUNT(*) FROM {table}") == n)
        self.check("customers of history", self.number(
            "SELECT COUNT(*) FROM (SELECT DISTINCT h_c_w_id, h_c_d_id, h_c_id FROM history) t") == 30000 * self.w)
        self.check("lines", abs(lines - 300000 * self.w) <= 2.576 * 548 * math.sqrt(self.w))

    def constants(self):
        for table, wrong in WRONG:
            self.check(f"{table}: {wrong}", self.number(f"SELECT COUNT(*) FROM {table} WHERE {wrong}") == 0)
        self.check("numbers of lines", self.query(
            "SELECT ol_w_id FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id HAVING MIN(ol_number) <> 1 "
            "OR MAX(ol_number) <> COUNT(*)") == [])
        for table, column, other, other_column, same in SAME_DATES:
            self.check(f"{table}.{column}", self.number(
                f"SELECT COUNT(*) FROM {table} JOIN {other} ON {same} WHERE {column} <> {other_column}") == 0)

    def uniform(self):
        integer = {"mysql": "SIGNED", "pgsql": "INT", "sqlite": "INT"}[self.kind]
        for table, column, factor, least, most, where in UNIFORM:
            counts = {}
            for value, n in self.counts(table, column.replace("{int}", integer), where).items():
                value = round(float(value) * factor)
                counts[value] = counts.get(value, 0) + n
            self.fits(f"{table}.{column}", counts, {v: 1 / (most - least + 1) for v in range(least, most + 1)})

    def texts(self):
        for table, column, least, most in TEXTS:
            self.check(f"characters of {column}", self.number(
                f"SELECT COUNT(*) FROM {table} WHERE " + STRANGE[self.kind].format(column)) == 0)
            counts = {int(k): n for k, n in self.counts(table, f"LENGTH({column})").items()}
            if least < most and self.number(f"SELECT COUNT(*) FROM {table}") >= 1000:
                self.fits(f"length of {column}", counts,
                          {v: 1 / (most - least + 1) for v in range(least, most + 1)})
            self.check(f"bounds of {column}", least <= min(counts) and max(counts) <= most)
        for table, column, place, codes in CHARACTERS:
            counts = self.counts(table, f"{CODE[self.kind]}(SUBSTR({column}, {place}, 1))")
            self.fits(f"character {place} of {column}", {int(k): n for k, n in counts.items()},
                      dict.fromkeys(codes, 1 / len(codes)))

    def original(self):
        for table, column in ("item", "i_data"), ("stock", "s_data"):
            place = PLACE[self.kind].format(column)
            rows = self.query(f"SELECT LENGTH({column}), {place}, COUNT(*) FROM {table} GROUP BY 1, 2")
            counts = {(int(length), int(at)): int(n) for length, at, n in rows}
            total, without = sum(counts.values()), sum(n for (_, at), n in counts.items() if at == 0)
            self.check(f"{column} with ORIGINAL", binomial(total - without, total, 0.1))
            shares = {(length, at): 1 / 25 / (length - 7) for length in range(26, 51) for at in range(1, length - 6)}
            self.fits(f"place in {column}", {k: n for k, n in counts.items() if k[1] > 0}, shares)
            last = sum(n for (length, at), n in counts.items() if at == length - 7)
            self.check(f"last place in {column}", binomial(
                last, total - without, sum(1 / 25 / (length - 7) for length in range(26, 51))))

    def customers(self):
        names = self.query("SELECT c_id, c_last, COUNT(*) FROM customer WHERE c_id <= 1000 GROUP BY c_id, c_last")
        self.check("names of the first 1000", len(names) == 1000 and
                   all(NAMES[name] == int(c) - 1 for c, name, _ in names))
        c = self.number("SELECT value FROM oe_settings WHERE name = 'c_last_load'")
        counts = {NAMES[name]: n for name, n in self.counts("customer", "c_last", "WHERE c_id > 1000").items()}
        self.fits("c_last", counts, dict(enumerate(chi.nurand_shares(255, 0, 999, c))))
        bad = self.number("SELECT COUNT(*) FROM customer WHERE c_credit = 'BC'")
        self.check("c_credit", binomial(bad, 30000 * self.w, 0.1))

    def permutations(self):
        self.check("o_c_id", self.query("SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id HAVING MIN(o_c_id) <> 1 "
                                        "OR MAX(o_c_id) <> 3000 OR COUNT(DISTINCT o_c_id) <> 3000") == [])
        # Two permutations agree in one place on average: 45 pairs of districts.
        same = round(float(self.query("SELECT SUM(n * (n - 1)) / 2 FROM (SELECT COUNT(*) AS n FROM orders "
                                      "GROUP BY o_w_id, o_id, o_c_id) t")[0][0]))
        self.check("permutations differ", abs(same - 45 * self.w) <= 2.576 * math.sqrt(45 * self.w))
        # The first half of the customers has no fewer and no more of the first orders.
        rows = self.query("SELECT FLOOR((o_id - 1) / 300), FLOOR((o_c_id - 1) / 300), COUNT(*) FROM orders GROUP BY 1, 2")
        self.fits("o_c_id and o_id", {(int(float(a)), int(float(b))): int(n) for a, b, n in rows},
                  {(a, b): 0.01 for a in range(10) for b in range(10)})

    def faults(self):
        for part in (self.sizes, self.constants, self.uniform, self.texts, self.original, self.customers,
                     self.permutations):
            part()
        return self.bad


# What a run does to the tables, with the values that transactions write.
RUN = """
INSERT INTO orders SELECT 3001, d_id, d_w_id, 7, '2026-01-02 00:00:00', NULL, 1, 1 FROM district;
INSERT INTO new_order SELECT 3001, d_id, d_w_id FROM district;
INSERT INTO order_line SELECT 3001, d_id, d_w_id, 1, 5, d_w_id, NULL, 5, 10.50, 'abcdefghijklmnopqrstuvwx'
  FROM district;
UPDATE district SET d_next_o_id = 3002, d_ytd = d_ytd + 12.34;
UPDATE warehouse SET w_ytd = w_ytd + 123.4;
UPDATE stock SET s_quantity = s_quantity - 3, s_ytd = 3, s_order_cnt = 1, s_remote_cnt = 1
  WHERE s_quantity > 50;
UPDATE stock SET s_quantity = 10 WHERE s_i_id = 17;
DELETE FROM new_order WHERE no_o_id < 2201;
UPDATE orders SET o_carrier_id = 3 WHERE o_id BETWEEN 2101 AND 2200;
UPDATE order_line SET ol_delivery_d = '2026-01-02 00:00:00' WHERE ol_o_id BETWEEN 2101 AND 2200;
UPDATE customer SET c_balance = c_balance + 7, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_id < 100;
UPDATE customer SET c_balance = c_balance - 12.34, c_ytd_payment = c_ytd_payment + 12.34,
  c_payment_cnt = c_payment_cnt + 1 WHERE c_id BETWEEN 50 AND 60;
UPDATE customer SET c_data = SUBSTR({data}, 1, 500) WHERE c_id BETWEEN 50 AND 60 AND c_credit = 'BC';
INSERT INTO history ({history}) SELECT 50, d_id, d_w_id, d_id, d_w_id, '2026-01-02 00:00:00', 12.34, 'wname    dname'
  FROM district;
"""


def run_text(kind):
    data = "CONCAT('50 1 1 1 1 12.34 ', c_data)" if kind == "mysql" else "'50 1 1 1 1 12.34 ' || c_data"
    return RUN.format(data=data, history="h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data")
