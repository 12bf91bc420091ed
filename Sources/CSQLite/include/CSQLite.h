/* What of SQLite Swift does not see: functions with variable arguments. */
#ifndef FRESHET_CSQLITE_H
#define FRESHET_CSQLITE_H

#include <sqlite3.h>

/* Closing the connection neither checkpoints nor deletes the -wal. The connection's thread. */
void sqlite_leave_wal_on_close(sqlite3 *_Nonnull connection);

#endif
