-- A table of wells, as the demo has it, of ROWS rows (whoever runs this puts the number in).
CREATE TABLE well(id INTEGER PRIMARY KEY, name TEXT NOT NULL, county TEXT NOT NULL, operator TEXT NOT NULL,
  status TEXT NOT NULL, depth REAL NOT NULL);
-- A linear congruential sequence: the same rows on every machine.
WITH RECURSIVE r(i, x) AS (SELECT 1, 42 UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM r LIMIT ROWS)
INSERT INTO well SELECT i, char(65 + x / 7 % 26, 97 + x / 191 % 26, 97 + x / 5003 % 26) || ' Federal ' || (x % 97) || '-' || i,
  'County ' || (10 + x / 11 % min(89, max(1, ROWS / 12))), 'Operator ' || (x / 13 % 40),
  CASE x / 17 % 3 WHEN 0 THEN 'active' WHEN 1 THEN 'idle' ELSE 'plugged' END, (x % 90000) / 10.0 FROM r;
