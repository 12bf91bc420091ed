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

/* Statements that the connection compiles from now on read "name" as a name, never as a text. The connection's thread.
 */
void sqlite_refuse_quoted_strings(sqlite3 *_Nonnull connection);

/* Budgets: how much memory and time SQLite may use on a thread, whatever the connection. Without one there is no limit.
 *
 * A spent budget takes effect in two ways. Progress handlers, authorizers and the functions below check it with
 * `sqlite_budget_is_spent`, and end the statement cleanly. And allocations fail: at once while a statement is compiled
 * (`stops_in_allocations`), otherwise a little later, if no check came in time. The error is then SQLITE_NOMEM whatever
 * was spent, and `sqlite_budget_reason` returns the cause. A budget belongs to the calling thread.
 */
typedef struct {
  /* The limit of bytes, in the thread's own count. */
  int64_t bytes;
  /* The latest time, in nanoseconds of CLOCK_MONOTONIC. */
  int64_t deadline;
  /* The limit of processor time, in nanoseconds of CLOCK_THREAD_CPUTIME_ID. */
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

/* Begins a budget within the present one, and limits it to what is left of that. INT64_MAX: no further limit. Times are
 * in nanoseconds from now. Returns the former budget, for `sqlite_budget_restore`. */
sqlite_budget sqlite_budget_begin(int64_t bytes, int64_t time, int64_t processor_time, int stops_in_allocations);
void sqlite_budget_restore(sqlite_budget before);

/* The limit that was exceeded since the last budget began. */
sqlite_budget_end sqlite_budget_reason(void);

/* Whether the budget is spent. Reads the clock. */
int sqlite_budget_is_spent(void);

/* As above, but reads the clock only if much work was done since it was last read. 1 is about a microsecond. */
int sqlite_budget_work(int64_t work);

/* Sets the reason to SQLITE_BUDGET_NO_STEPS. */
void sqlite_budget_refuse(void);

/* Replaces, on a connection, SQLite's functions that can take long in one call: instr, replace, trim, ltrim, rtrim,
 * json_patch, randomblob, FTS5's snippet and highlight; and registers LIKE as `regexp`. (LIKE itself is not
 * replaced, because SQLite would not use an index for it then.) Results are the same. A call that would take too many
 * steps fails with SQLITE_TOOBIG. Returns a result code. */
int sqlite_install_functions(sqlite3 *_Nonnull connection);

/* From now on connections keep temporary files in memory that the budget counts. Call once, before they are opened.
 * Returns a result code. */
int sqlite_keep_temporary_files_in_memory(void);

/* A value of a row: `type` is one of SQLite's (SQLITE_INTEGER, …). */
typedef struct {
  /* The bytes of text and blobs, which are borrowed. */
  const void *_Nullable bytes;
  /* An integer, or the bits of a real. */
  int64_t number;
  int32_t type;
  int32_t length;
} sqlite_row_value;

/* A virtual table that shows rows from memory. */
typedef struct sqlite_captured sqlite_captured;

/* Makes temp.NAME, with a module of that name, on a connection.
 *
 * - declaration: CREATE TABLE with its columns, and then a hidden column for the rows' signs.
 * - encoding: the encoding of text, SQLITE_UTF8, SQLITE_UTF16LE or SQLITE_UTF16BE.
 *
 * Returns NULL if SQLite refuses. The table lasts until it is dropped or the connection is closed. The connection's
 * thread, as for the functions below. */
sqlite_captured *_Nullable sqlite_captured_create(sqlite3 *_Nonnull connection, const char *_Nonnull name,
                                                  const char *_Nonnull declaration, int columns, int encoding);

/* Drops the table. No statement that reads it may be running. Returns a result code. */
int sqlite_captured_drop(sqlite3 *_Nonnull connection, const char *_Nonnull name);

/* Sets the rows of the table: the `count` rows whose numbers are in `chosen`, or the first `count` rows if it is NULL.
 * `signs` has the hidden column of each row; if it is NULL, all are 1. The arguments are borrowed until the next call.
 * No statement that reads the table may be running. */
void sqlite_captured_set(sqlite_captured *_Nonnull table, const sqlite_row_value *_Nullable values,
                         const int64_t *_Nullable rowids, const int32_t *_Nullable chosen, const int8_t *_Nullable signs, int64_t count);

/* Adds collations, FTS5 tokenizers or functions to all connections of this process, for files of applications that have
 * their own. Must be called before the first connection is opened. These return a result code.
 *
 * Stand-ins compare and split text in their own way, so order and search may differ from the application's. Connections
 * that write do not have them. Loading an extension fails when a connection is opened, with SQLite's message.
 */
typedef enum { SQLITE_COLLATION_BINARY, SQLITE_COLLATION_NOCASE, SQLITE_COLLATION_RTRIM } sqlite_collation;
int sqlite_add_collation(const char *_Nonnull name, sqlite_collation kind);
int sqlite_add_tokenizer(const char *_Nonnull name, const char *_Nonnull base);
/* `entry`: the entry point; NULL for the one that SQLite derives from the file's name. */
int sqlite_add_extension(const char *_Nonnull path, const char *_Nullable entry);

#endif
