/* Virtual tables of the rows that a tick has found changed, so that a query's own SELECT can be evaluated over them.
 *
 * A table has the columns of the one that it stands for, with their affinities and collations. It is scanned from the
 * first row to the last; SQLite checks all conditions itself. Values are borrowed: they stay where they are while a
 * statement runs.
 */
#include "CSQLite.h"

#include <string.h>

struct sqlite_captured {
  char *declaration;
  const sqlite_row_value *values;
  const int64_t *rowids;
  const int32_t *chosen;
  const int8_t *signs;
  int64_t count;
  int columns;
  unsigned char encoding;
};

typedef struct {
  sqlite3_vtab base;
  const sqlite_captured *table;
} captured_vtab;

typedef struct {
  sqlite3_vtab_cursor base;
  const sqlite_captured *table;
  int64_t place;
} captured_cursor;

static int connect_table(sqlite3 *connection, void *context, int count, const char *const *arguments,
                         sqlite3_vtab **result, char **error) {
  (void)count;
  (void)arguments;
  (void)error;
  const sqlite_captured *table = context;
  int code = sqlite3_declare_vtab(connection, table->declaration);
  if (code != SQLITE_OK) return code;
  captured_vtab *vtab = sqlite3_malloc(sizeof *vtab);
  if (vtab == NULL) return SQLITE_NOMEM;
  *vtab = (captured_vtab){.table = table};
  *result = &vtab->base;
  return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *vtab) {
  sqlite3_free(vtab);
  return SQLITE_OK;
}

/* Reports few rows whatever the condition, so that a join begins with this table. */
static int choose_plan(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  (void)vtab;
  info->estimatedCost = 1;
  info->estimatedRows = 1;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **result) {
  captured_cursor *cursor = sqlite3_malloc(sizeof *cursor);
  if (cursor == NULL) return SQLITE_NOMEM;
  *cursor = (captured_cursor){.table = ((captured_vtab *)vtab)->table};
  *result = &cursor->base;
  return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
  sqlite3_free(cursor);
  return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count, sqlite3_value **values) {
  (void)number;
  (void)text;
  (void)count;
  (void)values;
  ((captured_cursor *)cursor)->place = 0;
  return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *cursor) {
  ((captured_cursor *)cursor)->place += 1;
  return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base) {
  captured_cursor *cursor = (captured_cursor *)base;
  return cursor->place >= cursor->table->count;
}

static int64_t row(const captured_cursor *cursor) {
  const int32_t *chosen = cursor->table->chosen;
  return chosen == NULL ? cursor->place : chosen[cursor->place];
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  const captured_cursor *cursor = (captured_cursor *)base;
  const sqlite_captured *table = cursor->table;
  /* The hidden column with the rows' signs. */
  if (column == table->columns) {
    sqlite3_result_int(context, table->signs == NULL ? 1 : table->signs[row(cursor)]);
    return SQLITE_OK;
  }
  const sqlite_row_value *value = &table->values[row(cursor) * table->columns + column];
  double real;
  switch (value->type) {
  case SQLITE_INTEGER: sqlite3_result_int64(context, value->number); break;
  case SQLITE_FLOAT:
    memcpy(&real, &value->number, sizeof real);
    sqlite3_result_double(context, real);
    break;
  case SQLITE_TEXT:
    sqlite3_result_text64(context, value->bytes, (sqlite3_uint64)value->length, SQLITE_STATIC, table->encoding);
    break;
  case SQLITE_BLOB: sqlite3_result_blob(context, value->bytes, value->length, SQLITE_STATIC); break;
  default: break;
  }
  return SQLITE_OK;
}

static int read_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  const captured_cursor *cursor = (captured_cursor *)base;
  *rowid = cursor->table->rowids[row(cursor)];
  return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xCreate = connect_table,
    .xConnect = connect_table,
    .xBestIndex = choose_plan,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = column,
    .xRowid = read_rowid,
};

/* Called when the connection has no table of the module any more. */
static void free_table(void *context) {
  sqlite_captured *table = context;
  sqlite3_free(table->declaration);
  sqlite3_free(table);
}

sqlite_captured *sqlite_captured_create(sqlite3 *connection, const char *name, const char *declaration, int columns,
                                        int encoding) {
  sqlite_captured *table = sqlite3_malloc(sizeof *table);
  if (table == NULL) return NULL;
  *table = (sqlite_captured){.columns = columns, .encoding = (unsigned char)encoding};
  table->declaration = sqlite3_mprintf("%s", declaration);
  char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE temp.\"%w\" USING \"%w\"", name, name);
  if (table->declaration == NULL || sql == NULL) {
    sqlite3_free(sql);
    free_table(table);
    return NULL;
  }
  /* This frees the table even if it fails. */
  int code = sqlite3_create_module_v2(connection, name, &module, table, free_table);
  if (code == SQLITE_OK) {
    code = sqlite3_exec(connection, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK) sqlite3_create_module_v2(connection, name, NULL, NULL, NULL);
  }
  sqlite3_free(sql);
  return code == SQLITE_OK ? table : NULL;
}

int sqlite_captured_drop(sqlite3 *connection, const char *name) {
  char *sql = sqlite3_mprintf("DROP TABLE temp.\"%w\"", name);
  if (sql == NULL) return SQLITE_NOMEM;
  int code = sqlite3_exec(connection, sql, NULL, NULL, NULL);
  sqlite3_free(sql);
  return code == SQLITE_OK ? sqlite3_create_module_v2(connection, name, NULL, NULL, NULL) : code;
}

void sqlite_captured_set(sqlite_captured *table, const sqlite_row_value *values, const int64_t *rowids,
                         const int32_t *chosen, const int8_t *signs, int64_t count) {
  table->signs = signs;
  table->values = values;
  table->rowids = rowids;
  table->chosen = chosen;
  table->count = count;
}
