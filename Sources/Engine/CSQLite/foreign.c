/* Collations, tokenizers and functions that only an application defines: loads them from the application's library, or
 * registers stand-ins. */
#include <stdlib.h>
#include <string.h>

#include "CSQLite.h"

typedef struct part {
  char *name;
  /* The name of a tokenizer's stand-in; for an extension, its entry point or NULL. */
  char *other;
  int kind;
  struct part *next;
} part;

/* Written before the first connection is opened, and then only read. */
static part *collations, *tokenizers, *extensions;

static int compare(void *kind, int left_length, const void *left, int right_length, const void *right) {
  const char *one = left, *other = right;
  if ((intptr_t)kind == SQLITE_COLLATION_RTRIM) {
    while (left_length > 0 && one[left_length - 1] == ' ') left_length--;
    while (right_length > 0 && other[right_length - 1] == ' ') right_length--;
  }
  int length = left_length < right_length ? left_length : right_length;
  int order = (intptr_t)kind == SQLITE_COLLATION_NOCASE ? sqlite3_strnicmp(one, other, length) : memcmp(one, other, (size_t)length);
  return order != 0 ? order : left_length - right_length;
}

/* A tokenizer that stands in for the application's. It is created without the arguments of that one. */
typedef struct {
  fts5_tokenizer base;
  void *data;
} stand_in;

static int create_stand_in(void *data, const char **arguments, int count, Fts5Tokenizer **made) {
  (void)arguments, (void)count;
  stand_in *known = data;
  return known->base.xCreate(known->data, NULL, 0, made);
}

static int add_tokenizer(fts5_api *api, const part *tokenizer) {
  stand_in *known = calloc(1, sizeof *known);
  if (known == NULL) return SQLITE_NOMEM;
  int code = api->xFindTokenizer(api, tokenizer->other, &known->data, &known->base);
  if (code != SQLITE_OK) {
    free(known);
    return code;
  }
  fts5_tokenizer made = {create_stand_in, known->base.xDelete, known->base.xTokenize};
  return api->xCreateTokenizer(api, tokenizer->name, known, &made, free);
}

static fts5_api *api_of(sqlite3 *connection) {
  fts5_api *api = NULL;
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2(connection, "SELECT fts5(?1)", -1, &statement, NULL) != SQLITE_OK) return NULL;
  sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL);
  sqlite3_step(statement);
  sqlite3_finalize(statement);
  return api;
}

/* Adds stand-ins to a connection that only reads. Writing an index in another order, or with other words, than the
 * application's would damage it. */
static int add_stand_ins(sqlite3 *connection) {
  for (const part *each = collations; each != NULL; each = each->next) {
    int code = sqlite3_create_collation_v2(connection, each->name, SQLITE_UTF8, (void *)(intptr_t)each->kind, compare, NULL);
    if (code != SQLITE_OK) return code;
  }
  if (tokenizers == NULL) return SQLITE_OK;
  fts5_api *api = api_of(connection);
  if (api == NULL) return SQLITE_OK;
  for (const part *each = tokenizers; each != NULL; each = each->next) {
    int code = add_tokenizer(api, each);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

static int add_extensions(sqlite3 *connection, char **message) {
  if (extensions == NULL) return SQLITE_OK;
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
  int code = SQLITE_OK;
  for (const part *each = extensions; each != NULL && code == SQLITE_OK; each = each->next) {
    code = sqlite3_load_extension(connection, each->name, each->other, message);
  }
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
  return code;
}

static int prepare_connection(sqlite3 *connection, char **message, const struct sqlite3_api_routines *routines) {
  (void)routines;
  int code = add_extensions(connection, message);
  if (code == SQLITE_OK && sqlite3_db_readonly(connection, "main") == 1) code = add_stand_ins(connection);
  return code;
}

static int add(part **list, const char *name, const char *other, int kind) {
  part *made = calloc(1, sizeof *made);
  if (made == NULL) return SQLITE_NOMEM;
  made->name = strdup(name);
  made->other = other == NULL ? NULL : strdup(other);
  made->kind = kind;
  made->next = *list;
  *list = made;
  return sqlite3_auto_extension((void (*)(void))prepare_connection);
}

int sqlite_add_collation(const char *name, sqlite_collation kind) { return add(&collations, name, NULL, kind); }

int sqlite_add_tokenizer(const char *name, const char *base) { return add(&tokenizers, name, base, 0); }

int sqlite_add_extension(const char *path, const char *entry) { return add(&extensions, path, entry, 0); }
