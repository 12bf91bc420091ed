/* SQLite's default file system with reads that fail when a test says so, because a good disk never fails. */
#ifndef FRESHET_FAULTY_FILES_H
#define FRESHET_FAULTY_FILES_H

#include <stdbool.h>

/* From the `number`-th read (or lock, or mapping of the WAL-index) of a file whose path begins with `path` on, each
 * fails; or only that one. Only connections of this process that were opened after the first call count. Any thread,
 * one test at a time. */
void faulty_files_arm(const char *_Nonnull path, int number, bool only_once);

/* Ends the failures. Returns whether anything has failed since the files were armed. */
bool faulty_files_heal(void);

/* The next `count` checks for writers of such a file find none, as if the writer began just after them. */
void faulty_files_hide_writers(const char *_Nonnull path, int count);

/* To be called before the connections are opened whose files are to fail. */
void faulty_files_install(void);

#endif
