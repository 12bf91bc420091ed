// bare-lookup DATABASE: the least that a reader can do about a row that another connection has changed: it begins a
// read transaction, looks the row up by its key and ends the transaction. Answers lines on standard input as
// freshet-turns does:
//
//     change KIND COUNT    one-row commits; a line for each: nanoseconds of the look-up right after the commit
//
// and then `done`. The commit is made by a connection of its own, so the reader's page cache is emptied as by any
// foreign commit.

#include <sqlite3.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *writer, *reader;
static sqlite3_stmt *begin, *lookup, *commit;
static int64_t rows;

static void check(int code, sqlite3 *connection, const char *what) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  fprintf(stderr, "bare-lookup: %s: %s\n", what, sqlite3_errmsg(connection));
  exit(1);
}

static sqlite3 *open_database(const char *path, const char *pragmas) {
  sqlite3 *connection;
  check(sqlite3_open(path, &connection), connection, path);
  sqlite3_busy_timeout(connection, 5000);
  check(sqlite3_exec(connection, pragmas, NULL, NULL, NULL), connection, pragmas);
  return connection;
}

static sqlite3_stmt *prepare(sqlite3 *connection, const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v2(connection, sql, -1, &statement, NULL), connection, sql);
  return statement;
}

/* Steps to the end, looking at every column. */
static int64_t run(sqlite3_stmt *statement) {
  int64_t sum = 0;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    for (int column = 0; column < sqlite3_column_count(statement); column++) {
      const unsigned char *text = sqlite3_column_text(statement, column);
      sum += text ? text[0] : 0;
    }
  }
  check(code, sqlite3_db_handle(statement), sqlite3_sql(statement));
  sqlite3_reset(statement);
  return sum;
}

static uint64_t next_random(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* The statement that is committed for each kind: ?1 is the row, ?2 a second one. `settle` is committed afterwards, so
   that the table keeps its number of rows. */
static const struct {
  const char *name, *change, *settle;
} kinds[] = {
    {"content", "UPDATE well SET depth = depth + 1 WHERE id = ?1", NULL},
    {"sort", "UPDATE well SET name = 'Bare Federal ' || ?2 WHERE id = ?1", NULL},
    {"section", "UPDATE well SET county = (SELECT county FROM well WHERE id = ?2) WHERE id = ?1", NULL},
    {"insert", "INSERT INTO well SELECT ?1, name, county, operator, status, depth FROM well WHERE id = ?2",
     "DELETE FROM well WHERE id = ?1"},
    {"delete", "DELETE FROM well WHERE id = ?1",
     "INSERT INTO well SELECT ?1, name, county, operator, status, depth FROM well WHERE id = ?2"},
};

static void commit_change(const char *sql, int64_t id, int64_t other) {
  sqlite3_stmt *statement = prepare(writer, sql);
  sqlite3_bind_int64(statement, 1, id);
  if (sqlite3_bind_parameter_count(statement) > 1) sqlite3_bind_int64(statement, 2, other);
  run(statement);
  if (sqlite3_changes(writer) != 1) {
    fprintf(stderr, "bare-lookup: %s changed %d rows\n", sql, sqlite3_changes(writer));
    exit(1);
  }
  sqlite3_finalize(statement);
}

static int64_t time_lookup(int64_t id) {
  int64_t start = now();
  run(begin);
  sqlite3_bind_int64(lookup, 1, id);
  run(lookup);
  run(commit);
  return now() - start;
}

static int perform(const char *kind, int count) {
  for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
    if (strcmp(kinds[index].name, kind)) continue;
    while (count-- > 0) {
      int64_t id = strcmp(kind, "insert") ? 1 + (int64_t)(next_random() % (uint64_t)rows) : rows + 1;
      int64_t other = 1 + (id + 1 + (int64_t)(next_random() % (uint64_t)(rows - 2))) % rows;
      if (other == id) other = id == 1 ? 2 : id - 1;
      commit_change(kinds[index].change, id, other);
      printf("%lld\n", (long long)time_lookup(id));
      if (kinds[index].settle) commit_change(kinds[index].settle, id, other);
    }
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  writer = open_database(argv[1], "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  reader = open_database(argv[1], "SELECT 1 FROM well LIMIT 1");
  begin = prepare(reader, "BEGIN");
  lookup = prepare(reader, "SELECT county, name, id, operator, status, depth FROM well WHERE id = ?1");
  commit = prepare(reader, "COMMIT");
  sqlite3_stmt *count = prepare(reader, "SELECT max(id) FROM well");
  sqlite3_step(count);
  rows = sqlite3_column_int64(count, 0);
  sqlite3_finalize(count);
  if (rows < 3) return 2;
  printf("ready %lld\n", (long long)rows);
  fflush(stdout);
  char line[256], kind[32];
  int changes;
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "change %31s %d", kind, &changes) != 2 || !perform(kind, changes)) {
      fprintf(stderr, "bare-lookup: unknown command: %s", line);
      return 1;
    }
    printf("done\n");
    fflush(stdout);
  }
  return 0;
}
