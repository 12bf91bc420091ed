#ifndef FRESHET_FULLTEXT_H
#define FRESHET_FULLTEXT_H

#include <sqlite3.h>

/* Registers snippet and highlight in the place of FTS5's own. Returns a result code. */
int fulltext_install(sqlite3 *connection);

#endif
