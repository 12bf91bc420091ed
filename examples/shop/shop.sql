PRAGMA journal_mode = WAL;
CREATE TABLE product(id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL, cost REAL NOT NULL);
CREATE TABLE customer(id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL);
CREATE TABLE orders(
  id INTEGER PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customer(id), product_id INTEGER NOT NULL REFERENCES product(id),
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 100), status TEXT NOT NULL DEFAULT 'new',
  created TEXT NOT NULL DEFAULT (datetime('now')));
CREATE INDEX orders_customer ON orders(customer_id);
CREATE VIEW basket AS
  SELECT orders.id, product.name, quantity, quantity * price AS total, status
  FROM orders JOIN product ON product.id = orders.product_id;
INSERT INTO product VALUES (1, 'Tea', 4.5, 1.2), (2, 'Cup', 12, 3.4), (3, 'Kettle', 39, 21);
INSERT INTO customer VALUES ('ann', 'Ann Abel', 'ann@example.org'), ('bob', 'Bob Baker', 'bob@example.org');
INSERT INTO orders(customer_id, product_id, quantity) VALUES ('ann', 1, 2), ('bob', 2, 6), ('ann', 3, 1);
