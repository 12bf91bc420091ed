#include "CSQLite.h"

#include <stddef.h>

void sqlite_leave_wal_on_close(sqlite3 *connection) {
  sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

void sqlite_refuse_quoted_strings(sqlite3 *connection) {
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
}

void sqlite_disable_triggers(sqlite3 *connection) {
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
}
