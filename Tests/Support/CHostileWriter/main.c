// A program that writes a database file in every way that SQLite has, unaware of its followers.
//
//     hostile-writer PATH SEED [create] [journal] [big] [plain] [die=N] [ledger=N]
//
// It prints `ready`, then reads numbers from its standard input, one in a line: it runs that many transactions, then
// prints a line. After 0 it writes until it is killed. `create` makes the file first. `journal` keeps to rollback
// journals, and leaves them for WAL now and then. `plain` changes no schema. With `die` the process ends at the Nth
// call of the operating system inside of commits and checkpoints. With `ledger` each transaction puts a number into the
// table `written`, N first, and a line says what became of it: `+` and the number when it was committed, `-` and the
// number when it was not.

#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

static sqlite3 *db;
static uint64_t state;
static int is_journal, is_plain, is_big, page_size = 4096;
// The next number of the ledger; -1 without one.
static sqlite3_int64 ledger = -1;

// SplitMix64.
static uint64_t next_random(void) {
  uint64_t mixed = (state += 0x9E3779B97F4A7C15u);
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31);
}

static int below(int limit) { return (int)(next_random() % (uint64_t)limit); }

// True in one of `n` cases.
static int one_in(int n) { return below(n) == 0; }

static const char *pick(int count, ...) {
  va_list list;
  va_start(list, count);
  const char *result = NULL;
  for (int left = below(count); left >= 0; left--) result = va_arg(list, const char *);
  va_end(list);
  return result;
}

// Statements that fail are passed over. Returns what SQLite returned.
/* SQLite 3.40.1 writes frames without checksums after a rollback to a savepoint, or of a statement, if pages were
 * spilled before: at the next recovery that commit and all later ones are lost, except for what a checkpoint has
 * copied. A ledger would only find this bug. So a writer that will die rolls back all or nothing once it may have
 * spilled. */
static int spills, may_die, has_failed;

static int run(const char *format, ...) {
  va_list list;
  va_start(list, format);
  char *sql = sqlite3_vmprintf(format, list);
  va_end(list);
  // Outside of a transaction every statement commits.
  shim_counts = sqlite3_get_autocommit(db) || strcmp(sql, "COMMIT") == 0;
  int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
  shim_counts = 0;
  has_failed |= code != SQLITE_OK;
  if (getenv("HOSTILE_TRACE")) fprintf(stderr, "%d %s\n", code, sql);
  sqlite3_free(sql);
  return code;
}

static sqlite3_int64 number(const char *format, ...) {
  va_list list;
  va_start(list, format);
  char *sql = sqlite3_vmprintf(format, list);
  va_end(list);
  sqlite3_stmt *statement = NULL;
  sqlite3_int64 result = -1;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
    result = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_free(sql);
  return result;
}

// MARK: - The schema

#define TABLES 8

// Every table has columns a, b and c; the others are its own.
static const char *definitions[TABLES] = {
    "t0(id INTEGER PRIMARY KEY, a, b TEXT, c BLOB)",
    "t1(a, b, c, d DEFAULT 7)",
    "t2(k TEXT PRIMARY KEY, a, b REAL, c)",
    "t3(a INT, b TEXT, c, d, PRIMARY KEY (b, a)) WITHOUT ROWID",
    "t4(id INTEGER PRIMARY KEY, a UNIQUE, g AS (a || 'x'), b, h INT AS (length(b)) STORED, c)",
    "t5(w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, a UNIQUE, b, c)",
    "t6(c, k BLOB, a, b, PRIMARY KEY (k, a DESC)) WITHOUT ROWID",
    "t7(a INTEGER NOT NULL, b TEXT COLLATE NOCASE, c, UNIQUE (b, a))",
};

static void create_table(int index) {
  run("CREATE TABLE IF NOT EXISTS %s", definitions[index]);
  if (one_in(2)) run("CREATE INDEX IF NOT EXISTS i%d ON t%d(b)", index, index);
}

static void create_file(void) {
  page_size = 512 << below(8);
  if (is_big) page_size = 512;
  run("PRAGMA page_size = %d", page_size);
  run("PRAGMA auto_vacuum = %d", below(3));
  run("PRAGMA encoding = '%s'", pick(4, "UTF-8", "UTF-8", "UTF-16le", "UTF-16be"));
  // At least 480 bytes of a page are used.
  int reserved = one_in(3) ? below(page_size == 512 ? 33 : 200) : 0;
  if (reserved) sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
  run("BEGIN");
  for (int index = 0; index < TABLES; index++)
    if (one_in(2)) create_table(index);
  create_table(below(TABLES));
  if (one_in(4)) run("CREATE VIRTUAL TABLE f USING fts5(a, b)");
  // The table has no key, so that a number that is written twice is seen.
  if (ledger >= 0) run("CREATE TABLE written(id)");
  run("COMMIT");
}

// An existing table; -1 when there is none.
static int any_table(void) {
  for (int tries = 0; tries < 50; tries++) {
    int index = below(TABLES);
    if (number("SELECT 1 FROM sqlite_schema WHERE name = 't%d'", index) == 1) return index;
  }
  return -1;
}

static int has_rowid(int table) { return table != 3 && table != 6; }

// The columns that statements may set, or NULL.
static char *columns_of(int table) {
  sqlite3_stmt *statement = NULL;
  char *sql = sqlite3_mprintf("SELECT name FROM pragma_table_xinfo('t%d') WHERE hidden = 0", table), *result = NULL;
  sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  while (statement && sqlite3_step(statement) == SQLITE_ROW) {
    // Seldom all of them.
    if (result && one_in(4)) continue;
    char *longer = sqlite3_mprintf("%s%s%s", result ? result : "", result ? "," : "", sqlite3_column_text(statement, 0));
    sqlite3_free(result);
    result = longer;
  }
  sqlite3_finalize(statement);
  sqlite3_free(sql);
  return result;
}

// MARK: - Statements

// The length of a long value, often more than fits on a page.
static int length(void) {
  switch (below(20)) {
    case 0: return below(page_size < 4096 ? page_size * 12 : 20000);
    case 1: case 2: return below(page_size < 4096 ? page_size * 3 : 6000);
    case 3: return page_size == 65536 && one_in(20) ? 60000 + below(80000) : below(page_size < 4096 ? page_size : 4096);
    case 4: case 5: case 6: return below(300);
    default: return below(30);
  }
}

// To be freed by the caller.
static char *value(void) {
  char letter = (char)('a' + below(26));
  switch (below(12)) {
    case 0: return sqlite3_mprintf("NULL");
    case 1: return sqlite3_mprintf("%d", below(10));
    case 2: return sqlite3_mprintf("%lld", (sqlite3_int64)next_random() >> below(64));
    case 3: return sqlite3_mprintf("%d.5", below(10));
    case 4: return sqlite3_mprintf("%d.0", below(10));
    case 5: return sqlite3_mprintf("'%c'", letter);
    case 6: return sqlite3_mprintf("'%c\xC3\xA9\xF0\x9F\x98\x80'", letter);
    case 7: return sqlite3_mprintf("CAST(printf('%%.*c', %d, '%c') AS BLOB)", length() + 1, letter);
    case 8: return sqlite3_mprintf("zeroblob(%d)", length());
    case 9: return sqlite3_mprintf("x'%02x'", below(4));
    default: return sqlite3_mprintf("printf('%%.*c', %d, '%c') || %d", length() + 1, letter, below(1000));
  }
}

// For each column of a list: `format` has a %s for the column, then one for a value; or only the latter.
static char *for_each_column(const char *columns, const char *format, int names) {
  char *copy = sqlite3_mprintf("%s", columns), *result = sqlite3_mprintf(""), *rest = NULL;
  for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    char *literal = value();
    char *one = names ? sqlite3_mprintf(format, name, literal) : sqlite3_mprintf(format, literal);
    char *longer = sqlite3_mprintf("%s%s%s", result, *result ? ", " : "", one);
    sqlite3_free(literal);
    sqlite3_free(one);
    sqlite3_free(result);
    result = longer;
  }
  sqlite3_free(copy);
  return result;
}

static void insert(int table, const char *columns) {
  const char *policy = pick(5, "INSERT", "INSERT", "REPLACE", "INSERT OR IGNORE", "INSERT OR FAIL");
  char *values = for_each_column(columns, "%s", 0);
  char *set = for_each_column(columns, "%s = %s", 1);
  int code = run("%s INTO t%d(%s) VALUES (%s)", policy, table, columns, values);
  if (code != SQLITE_OK && one_in(2))
    run("INSERT INTO t%d(%s) VALUES (%s) ON CONFLICT DO UPDATE SET %s", table, columns, values, set);
  sqlite3_free(values);
  sqlite3_free(set);
}

// Some rows, by their place in the b-tree.
static char *filter(int table) {
  const char *key = has_rowid(table) ? "rowid" : table == 3 ? "b, a" : "k, a";
  int rows = one_in(20) ? 10000 : one_in(4) ? 1 + below(40) : 1 + below(2);
  sqlite3_int64 count = number("SELECT count(*) FROM t%d", table);
  int skip = count > 0 ? below((int)count) : 0;
  return sqlite3_mprintf("(%s) IN (SELECT %s FROM t%d ORDER BY 1 LIMIT %d OFFSET %d)", key, key, table, rows, skip);
}

static void update(int table, const char *columns) {
  char *set = for_each_column(columns, "%s = %s", 1);
  char *where = filter(table);
  const char *policy = pick(3, "", "OR REPLACE", "OR IGNORE");
  switch (below(6)) {
    case 0: run("UPDATE %s t%d SET b = printf('%%.*c', length(b), '%c') WHERE %s", policy, table, 'a' + below(26), where); break;
    // The same size, with a difference only at the end: often only an overflow page changes.
    case 1: run("UPDATE %s t%d SET c = substr(c, 1, length(c) - 1) || '%d' WHERE %s", policy, table, below(10), where); break;
    case 2: run("UPDATE %s t%d SET c = CAST(substr(c, 1, length(c) - 1) || '%d' AS BLOB) WHERE %s", policy, table, below(10), where); break;
    case 3: run("UPDATE %s t%d SET %s = %s + %d WHERE %s", policy, table, has_rowid(table) ? "rowid" : "a", has_rowid(table) ? "rowid" : "a", below(9) - 4, where); break;
    case 4: run("UPDATE %s t%d SET a = %d WHERE %s", policy, table, below(100), where); break;
    default: run("UPDATE %s t%d SET %s WHERE %s", policy, table, set, where);
  }
  sqlite3_free(set);
  sqlite3_free(where);
}

// Writes into an existing value by the blob interface, without SQL.
static void write_blob(int table) {
  if (!has_rowid(table)) return;
  char name[16];
  snprintf(name, sizeof name, "t%d", table);
  sqlite3_int64 row =
      number("SELECT rowid FROM t%d WHERE typeof(c) = 'blob' ORDER BY length(c) DESC LIMIT 1 OFFSET %d", table, below(3));
  sqlite3_blob *blob = NULL;
  shim_counts = sqlite3_get_autocommit(db);
  if (row != -1 && sqlite3_blob_open(db, "main", name, "c", row, 1, &blob) == SQLITE_OK) {
    int size = sqlite3_blob_bytes(blob);
    char byte = (char)below(256);
    if (size > 0) sqlite3_blob_write(blob, &byte, 1, one_in(2) ? size - 1 : below(size));
  }
  sqlite3_blob_close(blob);
  shim_counts = 0;
}

static void insert_many(int table) {
  int count = is_big ? 200 + below(1500) : 10 + below(60);
  run("WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n LIMIT %d) "
      "INSERT OR REPLACE INTO t%d(%s, a, b) SELECT i, i, 'n' || i FROM n",
      below(1000), count, table, table == 2 || table == 6 ? "k" : "c");
}

static void statement(void) {
  int table = any_table();
  if (table < 0) return create_table(below(TABLES));
  char *columns = columns_of(table);
  sqlite3_int64 count = number("SELECT count(*) FROM t%d", table), most = is_big ? 4000 : 60;
  char *where = filter(table);
  int kind = below(24);
  if (count > most) {
    run("DELETE FROM t%d WHERE %s", table, where);
    if (one_in(2)) run("DELETE FROM t%d", table);
  } else if (kind < 9 && columns) {
    insert(table, columns);
  } else if (kind < 15 && columns) {
    update(table, columns);
  } else if (kind < 18) {
    run("DELETE FROM t%d WHERE %s", table, where);
  } else if (kind < 20) {
    write_blob(table);
  } else if (kind < 21) {
    insert_many(table);
  } else if (kind < 22) {
    run("CREATE TABLE IF NOT EXISTS x%d(a, b)", below(2));
    run("INSERT INTO x%d VALUES (zeroblob(%d), 1)", below(2), length());
  } else if (kind < 23 && !is_plain) {
    run("DROP TABLE IF EXISTS x%d", below(2));
  } else {
    run("INSERT INTO f VALUES ('%c %c', 'b')", 'a' + below(26), 'a' + below(26));
    if (one_in(4)) run("DELETE FROM f WHERE rowid = %d", below(20));
  }
  sqlite3_free(where);
  sqlite3_free(columns);
}

// MARK: - Transactions

static void change_schema(void) {
  int table = any_table();
  if (is_plain || table < 0) return;
  switch (below(9)) {
    case 0: run("ALTER TABLE t%d ADD COLUMN z%d", table, below(4)); break;
    case 1: run("ALTER TABLE t%d ADD COLUMN z%d INT NOT NULL DEFAULT 5", table, below(4)); break;
    case 2: case 3: run("ALTER TABLE t%d DROP COLUMN z%d", table, below(4)); break;
    case 4: run("ALTER TABLE t%d RENAME COLUMN z%d TO z%d", table, below(4), below(4)); break;
    case 5:
      run("DROP TABLE t%d", table);
      if (one_in(2)) create_table(table);
      break;
    case 6: create_table(below(TABLES)); break;
    case 7: run("CREATE INDEX IF NOT EXISTS j%d ON t%d(a)", table, table); break;
    default: run("DROP INDEX IF EXISTS j%d", table);
  }
}

static void set_options(void) {
  run("PRAGMA cache_size = %d", one_in(2) ? 5 : 1000);
  spills = !one_in(4) && ledger < 0;
  run("PRAGMA cache_spill = %d", spills);
  run("PRAGMA synchronous = %s", pick(3, "OFF", "NORMAL", "FULL"));
  run("PRAGMA wal_autocheckpoint = %d", one_in(4) ? 1000 : 1 + below(60));
  run("PRAGMA journal_size_limit = %d", one_in(2) ? -1 : below(20) * (page_size + 24) + 32 * below(2));
  run("PRAGMA secure_delete = %s", pick(3, "OFF", "ON", "FAST"));
}

static void transaction(void) {
  switch (below(60)) {
    case 0: run("VACUUM"); return;
    case 1: case 2: run("PRAGMA incremental_vacuum(%d)", below(9)); return;
    case 3: case 4: case 5: run("PRAGMA wal_checkpoint(%s)", pick(4, "PASSIVE", "FULL", "RESTART", "TRUNCATE")); return;
    case 6: set_options(); return;
    case 7: change_schema(); return;
    case 8:
      if (is_journal) run("PRAGMA journal_mode = %s", pick(5, "DELETE", "TRUNCATE", "PERSIST", "DELETE", "WAL"));
      return;
    case 9: case 10: case 11: case 12: statement(); return;
    default: break;
  }
  if (run("BEGIN %s", pick(2, "", "IMMEDIATE")) != SQLITE_OK) return;
  has_failed = 0;
  int left = 1 + below(5);
  while (left-- > 0) statement();
  if (one_in(5)) {
    run("SAVEPOINT s");
    for (left = below(6); left > 0; left--) statement();
    const char *end = pick(2, "ROLLBACK TO s", "RELEASE s");
    run("%s", spills && may_die ? "RELEASE s" : end);
    statement();
  }
  if (one_in(30)) change_schema();
  int is_kept = !one_in(12) && !(spills && may_die && has_failed);
  // If an error has ended the transaction, this statement would be a transaction of its own.
  int is_written = ledger >= 0 && !sqlite3_get_autocommit(db) && run("INSERT INTO written VALUES (%lld)", ledger) == SQLITE_OK;
  int code = run("%s", is_kept ? "COMMIT" : "ROLLBACK");
  if (code != SQLITE_OK) run("ROLLBACK");
  if (ledger < 0) return;
  printf("%c%lld\n", is_written && is_kept && code == SQLITE_OK ? '+' : '-', ledger++);
  fflush(stdout);
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  int creates = 0;
  state = strtoull(arguments[2], NULL, 10);
  for (int index = 3; index < count; index++) {
    creates |= strcmp(arguments[index], "create") == 0;
    is_journal |= strcmp(arguments[index], "journal") == 0;
    is_plain |= strcmp(arguments[index], "plain") == 0;
    is_big |= strcmp(arguments[index], "big") == 0;
    if (strncmp(arguments[index], "ledger=", 7) == 0) ledger = atoll(arguments[index] + 7);
    if (strncmp(arguments[index], "die=", 4) == 0) {
      may_die = 1;
      shim_calls_left = atol(arguments[index] + 4);
    }
  }
  shim_install();
  char *uri = sqlite3_mprintf("file:%s?psow=%d", arguments[1], !one_in(5));
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
  if (sqlite3_open_v2(uri, &db, flags, NULL) != SQLITE_OK) return 3;
  sqlite3_free(uri);
  sqlite3_busy_timeout(db, 10000);
  if (creates) create_file();
  page_size = (int)number("PRAGMA page_size");
  if (!is_journal) run("PRAGMA journal_mode = WAL");
  set_options();
  printf("ready\n");
  fflush(stdout);
  char line[32];
  while (fgets(line, sizeof line, stdin)) {
    int left = atoi(line);
    if (left == 0) for (;;) transaction();
    while (left-- > 0) transaction();
    printf("done\n");
    fflush(stdout);
  }
  sqlite3_close(db);
  return 0;
}
