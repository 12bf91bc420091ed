/* Replacements of SQLite's functions whose time is more than proportional to the length of their arguments: they return
 * the same results in linear time, or an error. Names and order are those of SQLite's func.c, whose behaviour every
 * line here follows; FunctionTests compare them. They check the thread's budget, because SQLite checks nothing between
 * two calls in one row.
 */
#include "CSQLite.h"
#include "calls.h"
#include "fulltext.h"
#include "search.h"

#include <stddef.h>
#include <string.h>

/* The longest text of replace, which scans it twice, and the longest value that instr converts to text, in bytes. */
static const int longest_replaced = 24 << 20;

/* The longest text that instr looks for, in bytes. Preparing the search takes longer than the search itself. */
static const int longest_needle = 8 << 20;

/* The number of times that replace may find its pattern. */
static const int64_t most_occurrences = 8000000;

void call_refuse(sqlite3_context *context, const char *message) {
  sqlite_budget_refuse();
  sqlite3_result_error(context, message, -1);
  sqlite3_result_error_code(context, SQLITE_TOOBIG);
}

int call_is_over(sqlite3_context *context, int64_t bytes) {
  /* The steps of SQLite's virtual machine, which are limited, bound the time for short texts. */
  if (bytes < 1024 || !sqlite_budget_work(bytes / 1024)) return 0;
  sqlite3_result_error_code(context, SQLITE_INTERRUPT);
  return 1;
}

/* The number of characters before `end`, as instr counts them: a byte and its continuation bytes are one character. */
static int64_t characters(const unsigned char *text, int64_t end) {
  int64_t count = 0;
  for (int64_t index = 1; index <= end; index++) count += !utf8_continues(text[index]);
  return count;
}

static void found(sqlite3_context *context, const unsigned char *text, int64_t count, const unsigned char *bytes,
                  int64_t length, int is_text) {
  if (length > count) return sqlite3_result_int(context, 0);
  /* SQLite compares at the beginnings of characters. Only the first character of a text may begin with a continuation
   * byte. */
  if (is_text && utf8_continues(bytes[0])) {
    return sqlite3_result_int(context, memcmp(text, bytes, (size_t)length) == 0);
  }
  needle needle = needle_make(bytes, length);
  int64_t place = needle_find(&needle, text, count, 0);
  if (place < 0) return sqlite3_result_int(context, 0);
  sqlite3_result_int(context, (int)(1 + (is_text ? characters(text, place) : place)));
}

static void instr(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  int type = sqlite3_value_type(values[0]), needle_type = sqlite3_value_type(values[1]);
  if (type == SQLITE_NULL || needle_type == SQLITE_NULL) return;
  int length = sqlite3_value_bytes(values[0]), needle_length = sqlite3_value_bytes(values[1]);
  if (call_is_over(context, (int64_t)length + needle_length)) return;
  if (needle_length == 0) return sqlite3_result_int(context, 1);
  if (needle_length > longest_needle && needle_length <= length) {
    return call_refuse(context, "instr has to find a value that is too long");
  }
  if (type == SQLITE_BLOB && needle_type == SQLITE_BLOB) {
    const unsigned char *text = sqlite3_value_blob(values[0]), *bytes = sqlite3_value_blob(values[1]);
    if (bytes == NULL || (length > 0 && text == NULL)) return sqlite3_result_error_nomem(context);
    return found(context, text, length, bytes, needle_length, 0);
  }
  /* If one value is a text and the other a BLOB, copies of both are converted to text. */
  int is_mixed = type == SQLITE_BLOB || needle_type == SQLITE_BLOB;
  if (is_mixed && (int64_t)length + needle_length > longest_replaced) {
    return call_refuse(context, "instr has a text and a BLOB that are too long");
  }
  sqlite3_value *first = is_mixed ? sqlite3_value_dup(values[0]) : values[0];
  sqlite3_value *second = is_mixed ? sqlite3_value_dup(values[1]) : values[1];
  const unsigned char *text = sqlite3_value_text(first), *bytes = sqlite3_value_text(second);
  length = sqlite3_value_bytes(first);
  needle_length = sqlite3_value_bytes(second);
  if (bytes == NULL || text == NULL) {
    sqlite3_result_error_nomem(context);
  } else if (needle_length == 0) {
    /* The needle is a BLOB that is shorter than a character of the encoding, and its text is empty. SQLite then finds
     * the first NUL in the text, or the one that ends it. */
    const unsigned char *end = memchr(text, 0, (size_t)length + 1);
    sqlite3_result_int(context, (int)(1 + characters(text, end - text)));
  } else {
    found(context, text, length, bytes, needle_length, 1);
  }
  if (is_mixed) {
    sqlite3_value_free(first);
    sqlite3_value_free(second);
  }
}

/* The number of times that the text contains the pattern, without overlaps. */
static int64_t occurrences(const needle *pattern, const unsigned char *text, int64_t length) {
  int64_t count = 0;
  for (int64_t place = 0; (place = needle_find(pattern, text, length, place)) >= 0; place += pattern->count) count += 1;
  return count;
}

static void replace(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  const unsigned char *text = sqlite3_value_text(values[0]);
  if (text == NULL) return;
  int length = sqlite3_value_bytes(values[0]);
  const unsigned char *bytes = sqlite3_value_text(values[1]);
  if (bytes == NULL) return;
  if (bytes[0] == 0) return sqlite3_result_value(context, values[0]);
  int needle_length = sqlite3_value_bytes(values[1]);
  const unsigned char *replacement = sqlite3_value_text(values[2]);
  if (replacement == NULL) return;
  int replacement_length = sqlite3_value_bytes(values[2]);
  if (length > longest_replaced) return call_refuse(context, "replace has a text that is too long");
  if (call_is_over(context, (int64_t)length + needle_length)) return;

  needle pattern = needle_make(bytes, needle_length);
  int64_t times = occurrences(&pattern, text, length);
  if (times > most_occurrences) return call_refuse(context, "replace has too much to replace");
  int64_t result_length = length + times * ((int64_t)replacement_length - needle_length);
  if (result_length > sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1)) {
    return sqlite3_result_error_toobig(context);
  }
  if (call_is_over(context, result_length)) return;
  unsigned char *result = sqlite3_malloc64((sqlite3_uint64)result_length + 1);
  if (result == NULL) return sqlite3_result_error_nomem(context);
  unsigned char *end = result;
  int64_t done = 0;
  for (int64_t place; (place = needle_find(&pattern, text, length, done)) >= 0; done = place + needle_length) {
    memcpy(end, text + done, (size_t)(place - done));
    end += place - done;
    memcpy(end, replacement, (size_t)replacement_length);
    end += replacement_length;
  }
  memcpy(end, text + done, (size_t)(length - done));
  sqlite3_result_text(context, (char *)result, (int)result_length, sqlite3_free);
}

/* The length of the first character of the set that is at this end of the text; 0 if no character of the set is. */
static int64_t trimmed(const unsigned char *text, int64_t length, const unsigned char *set, int at_end, int64_t *steps) {
  for (int64_t size; *set; set += size) {
    size = utf8_skip(set);
    *steps -= 1 + size / 16;
    if (*steps < 0) return 0;
    if (size <= length && memcmp(at_end ? text + length - size : text, set, (size_t)size) == 0) return size;
  }
  return 0;
}

/* The user data says which ends are trimmed: 1 left, 2 right, 3 both. */
static void trim(sqlite3_context *context, int count, sqlite3_value **values) {
  intptr_t ends = (intptr_t)sqlite3_user_data(context);
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  const unsigned char *text = sqlite3_value_text(values[0]);
  if (text == NULL) return;
  int64_t length = sqlite3_value_bytes(values[0]);
  const unsigned char *set = count == 1 ? (const unsigned char *)" " : sqlite3_value_text(values[1]);
  if (set == NULL || call_is_over(context, length)) return;
  int64_t steps = most_steps;
  int64_t size;
  while ((ends & 1) && length > 0 && (size = trimmed(text, length, set, 0, &steps)) > 0) {
    text += size;
    length -= size;
  }
  while ((ends & 2) && length > 0 && (size = trimmed(text, length, set, 1, &steps)) > 0) length -= size;
  if (steps < 0) return call_refuse(context, "trim has too many characters to compare with too many");
  sqlite3_result_text(context, (const char *)text, (int)length, SQLITE_TRANSIENT);
}

/* json_patch compares every name of one argument with every name of the other. This runs SQLite's json_patch on a
 * separate connection, if the arguments are short enough for that to take little time. */
static void json_patch(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  int64_t product = (int64_t)sqlite3_value_bytes(values[0]) * sqlite3_value_bytes(values[1]);
  if (product > 1 << 29) return call_refuse(context, "json_patch has arguments that are too long");
  sqlite3 *connection = sqlite3_user_data(context);
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(connection, "SELECT json_patch(?1, ?2)", -1, &statement, NULL);
  if (code == SQLITE_OK) {
    sqlite3_bind_value(statement, 1, values[0]);
    sqlite3_bind_value(statement, 2, values[1]);
    code = sqlite3_step(statement);
  }
  if (code == SQLITE_ROW) {
    sqlite3_result_value(context, sqlite3_column_value(statement, 0));
    /* Marks the value as JSON, as json.c does. */
    if (sqlite3_column_type(statement, 0) == SQLITE_TEXT) sqlite3_result_subtype(context, 'J');
  } else {
    sqlite3_result_error(context, sqlite3_errmsg(connection), -1);
    if (code != SQLITE_ERROR) sqlite3_result_error_code(context, code);
  }
  sqlite3_finalize(statement);
}

/* randomblob with limited length, because a byte takes several nanoseconds. */
static void randomblob(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  sqlite3_int64 length = sqlite3_value_int64(values[0]);
  if (length < 1) length = 1;
  if (length > 16 << 20) return sqlite3_result_error_toobig(context);
  void *bytes = call_is_over(context, length) ? NULL : sqlite3_malloc64((sqlite3_uint64)length);
  if (bytes == NULL) return;
  sqlite3_randomness((int)length, bytes);
  sqlite3_result_blob64(context, bytes, (sqlite3_uint64)length, sqlite3_free);
}

static void close_connection(void *connection) { sqlite3_close(connection); }

int sqlite_install_functions(sqlite3 *connection) {
  const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  const struct {
    const char *name;
    int arguments, flags;
    intptr_t data;
    void (*function)(sqlite3_context *, int, sqlite3_value **);
  } functions[] = {
      {"instr", 2, flags, 0, instr}, {"replace", 3, flags, 0, replace}, {"trim", 1, flags, 3, trim},
      {"trim", 2, flags, 3, trim},   {"ltrim", 1, flags, 1, trim},      {"ltrim", 2, flags, 1, trim},
      {"rtrim", 1, flags, 2, trim},  {"rtrim", 2, flags, 2, trim},      {"regexp", 2, flags, 0, call_like},
      {"regexp", 3, flags, 0, call_like}, {"randomblob", 1, SQLITE_UTF8 | SQLITE_INNOCUOUS, 0, randomblob},
  };
  for (size_t index = 0; index < sizeof functions / sizeof functions[0]; index++) {
    int code = sqlite3_create_function_v2(connection, functions[index].name, functions[index].arguments,
                                          functions[index].flags, (void *)functions[index].data,
                                          functions[index].function, NULL, NULL, NULL);
    if (code != SQLITE_OK) return code;
  }
  int code = fulltext_install(connection);
  if (code != SQLITE_OK) return code;
  sqlite3 *other = NULL;
  code = sqlite3_open_v2(":memory:", &other, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
  if (code != SQLITE_OK) {
    sqlite3_close(other);
    return code;
  }
  /* The connection is closed even if this fails. */
  return sqlite3_create_function_v2(connection, "json_patch", 2, flags, other, json_patch, NULL, NULL, close_connection);
}
