/* Parts of SQLite that Swift cannot call: functions with variable arguments, its allocator, functions that SQL calls.
   */
#ifndef FRESHET_CSQLITE_H
#define FRESHET_CSQLITE_H

#include <sqlite3.h>
#include <stdint.h>

/* Closing the connection neither checkpoints nor deletes the -wal. The connection's thread. */
void sqlite_leave_wal_on_close(sqlite3 *_Nonnull connection);

/* Statements that the connection compiles from now on run no triggers. The connection's thread. */
void sqlite_disable_triggers(sqlite3 *_Nonnull connection);

/* Statements that the connection compiles from now on take "name" for a name, never for a text. The connection's
   thread. */
void sqlite_refuse_quoted_strings(sqlite3 *_Nonnull connection);

/* Budgets: how much memory and time SQLite may use on a thread, whatever the connection. Without one there is no limit.
 *
 * What is spent is noticed in two ways. `sqlite_budget_is_spent` answers those who ask: progress handlers, authorizers
 * and the functions below, which then end the statement in order. And SQLite's allocator refuses: at once while a
 * statement is compiled (`stops_in_allocations`), and otherwise a little later, where the question came too late; the
 * error is then SQLITE_NOMEM whatever was spent, and `sqlite_budget_reason` has the cause. All of a budget is the
 * calling thread's.
 */
typedef struct {
  /* In the thread's own count. */
  int64_t bytes;
  /* In nanoseconds of CLOCK_MONOTONIC. */
  int64_t deadline;
  /* In nanoseconds of CLOCK_THREAD_CPUTIME_ID. */
  int64_t processor_deadline;
  int stops_in_allocations;
} sqlite_budget;

typedef enum {
  SQLITE_BUDGET_LEFT,
  SQLITE_BUDGET_NO_TIME,
  SQLITE_BUDGET_NO_MEMORY,
  /* One call of a function would take too many steps. */
  SQLITE_BUDGET_NO_STEPS,
} sqlite_budget_end;

/* Begins a budget within the present one, which cannot have more than is left of that. INT64_MAX: no limit of its own.
 * Times are in nanoseconds from now. Returns the one before, for `sqlite_budget_restore`. */
sqlite_budget sqlite_budget_begin(int64_t bytes, int64_t time, int64_t processor_time, int stops_in_allocations);
void sqlite_budget_restore(sqlite_budget before);

/* The limit that was exceeded since the last budget began. */
sqlite_budget_end sqlite_budget_reason(void);

/* Whether the budget is used up. Looks at the clock. */
int sqlite_budget_is_spent(void);

/* The same, looking at the clock only when much work has been done since the last time. 1 is about a microsecond. */
int sqlite_budget_work(int64_t work);

/* Notes SQLITE_BUDGET_NO_STEPS. */
void sqlite_budget_refuse(void);

/* Replaces, on a connection, SQLite's functions that can take long in one call: instr, replace, trim, ltrim, rtrim,
 * json_patch, randomblob, FTS5's snippet and highlight; and registers LIKE as `regexp`. (LIKE itself stays SQLite's: it
 * would use no index otherwise.) Results are the same. A call that would take too many steps fails with SQLITE_TOOBIG.
 * Returns a result code. */
int sqlite_install_functions(sqlite3 *_Nonnull connection);

/* From now on connections keep their temporary files in memory that counts. To be called once, before they are opened.
 * Returns a result code. */
int sqlite_keep_temporary_files_in_memory(void);

/* A value of a row: `type` is one of SQLite's (SQLITE_INTEGER, …). */
typedef struct {
  /* The bytes of text and blobs; borrowed. */
  const void *_Nullable bytes;
  /* An integer, or the bits of a real. */
  int64_t number;
  int32_t type;
  int32_t length;
} sqlite_row_value;

/* A virtual table of rows that are given to it. */
typedef struct sqlite_captured sqlite_captured;

/* Makes temp.NAME, with a module of that name, on a connection.
 *
 * - declaration: CREATE TABLE with its columns, and then a hidden one for the rows' signs.
 * - encoding: of text: SQLITE_UTF8, SQLITE_UTF16LE or SQLITE_UTF16BE.
 *
 * Returns NULL when SQLite refuses. The table lasts until it is dropped or the connection is closed. The connection's
 * thread, as for the functions below. */
sqlite_captured *_Nullable sqlite_captured_create(sqlite3 *_Nonnull connection, const char *_Nonnull name,
                                                  const char *_Nonnull declaration, int columns, int encoding);

/* No statement that reads it may be running. Returns a result code. */
int sqlite_captured_drop(sqlite3 *_Nonnull connection, const char *_Nonnull name);

/* Sets the rows of the table: `count` rows, by their numbers in `chosen`, or the first ones. `signs` has the hidden
 * column of each; NULL: 1. All of it is borrowed until the next call. No statement that reads the table may be running.
 * */
void sqlite_captured_set(sqlite_captured *_Nonnull table, const sqlite_row_value *_Nullable values,
                         const int64_t *_Nullable rowids, const int32_t *_Nullable chosen, const int8_t *_Nullable signs, int64_t count);

/* Adds collations, FTS5 tokenizers or functions to all connections of this process, for files of applications that have
 * their own. Must be called before the first connection is opened. Return a result code.
 *
 * Stand-ins compare and cut words in their own way, so order and search may differ from the application's. Connections
 * that write do not have them. Loading an extension fails when a connection is opened, with SQLite's message.
 */
typedef enum { SQLITE_COLLATION_BINARY, SQLITE_COLLATION_NOCASE, SQLITE_COLLATION_RTRIM } sqlite_collation;
int sqlite_add_collation(const char *_Nonnull name, sqlite_collation kind);
int sqlite_add_tokenizer(const char *_Nonnull name, const char *_Nonnull base);
/* `entry`: the entry point; NULL for the one that SQLite finds by the file's name. */
int sqlite_add_extension(const char *_Nonnull path, const char *_Nullable entry);

#endif
