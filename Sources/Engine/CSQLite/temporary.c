/* SQLite's temporary files, in memory.
 *
 * With `PRAGMA temp_store = MEMORY` SQLite sorts all rows at once, which takes seconds and checks no budget. With FILE
 * it sorts two megabytes at a time and merges, but uses the disk, which has no budget. So it gets temporary files in
 * memory: they are allocated by SQLite's allocator, which counts them. All other files belong to the file system that
 * was the default.
 */
#include "CSQLite.h"

#include <string.h>

enum { block = 64 << 10 };

typedef struct {
  sqlite3_file base;
  /* The file's memory: `count` blocks, with `size` bytes in use. */
  unsigned char **blocks;
  int64_t count, size;
} memory_file;

static int truncate_file(sqlite3_file *base, sqlite3_int64 size) {
  memory_file *file = (memory_file *)base;
  int64_t count = (size + block - 1) / block;
  while (file->count > count) sqlite3_free(file->blocks[--file->count]);
  if (size < file->size) {
    if (size % block) memset(file->blocks[size / block] + size % block, 0, (size_t)(block - size % block));
    file->size = size;
  }
  return SQLITE_OK;
}

static int close_file(sqlite3_file *base) {
  truncate_file(base, 0);
  sqlite3_free(((memory_file *)base)->blocks);
  return SQLITE_OK;
}

static int read_file(sqlite3_file *base, void *buffer, int length, sqlite3_int64 start) {
  memory_file *file = (memory_file *)base;
  unsigned char *bytes = buffer;
  int is_short = start + length > file->size;
  while (length > 0 && start < file->size) {
    int64_t part = block - start % block;
    if (part > length) part = length;
    if (part > file->size - start) part = file->size - start;
    memcpy(bytes, file->blocks[start / block] + start % block, (size_t)part);
    bytes += part;
    start += part;
    length -= (int)part;
  }
  memset(bytes, 0, (size_t)length);
  return is_short ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

/* Extends the file to this number of blocks. */
static int grow(memory_file *file, int64_t count) {
  if (count <= file->count) return SQLITE_OK;
  /* The array of blocks grows in steps of 256, so that it is not copied for every block. */
  int64_t room = (count + 255) / 256 * 256;
  if (room > (file->count + 255) / 256 * 256) {
    unsigned char **blocks = sqlite3_realloc64(file->blocks, (sqlite3_uint64)room * sizeof *blocks);
    if (blocks == NULL) return SQLITE_IOERR_NOMEM;
    file->blocks = blocks;
  }
  while (file->count < count) {
    unsigned char *bytes = sqlite3_malloc(block);
    if (bytes == NULL) return SQLITE_IOERR_NOMEM;
    memset(bytes, 0, block);
    file->blocks[file->count++] = bytes;
  }
  return SQLITE_OK;
}

static int write_file(sqlite3_file *base, const void *buffer, int length, sqlite3_int64 start) {
  memory_file *file = (memory_file *)base;
  const unsigned char *bytes = buffer;
  int code = grow(file, (start + length + block - 1) / block);
  if (code != SQLITE_OK) return code;
  if (start + length > file->size) file->size = start + length;
  while (length > 0) {
    int64_t part = block - start % block;
    if (part > length) part = length;
    memcpy(file->blocks[start / block] + start % block, bytes, (size_t)part);
    bytes += part;
    start += part;
    length -= (int)part;
  }
  return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
  *size = ((memory_file *)base)->size;
  return SQLITE_OK;
}

/* No other process has the file: there is nothing to sync or lock. */
static int do_nothing(sqlite3_file *file, int how) {
  (void)file;
  (void)how;
  return SQLITE_OK;
}

static int is_reserved(sqlite3_file *file, int *result) {
  (void)file;
  *result = 0;
  return SQLITE_OK;
}

static int control(sqlite3_file *file, int what, void *argument) {
  (void)file;
  (void)what;
  (void)argument;
  return SQLITE_NOTFOUND;
}

static int nothing(sqlite3_file *file) {
  (void)file;
  return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = do_nothing,
    .xFileSize = file_size,
    .xLock = do_nothing,
    .xUnlock = do_nothing,
    .xCheckReservedLock = is_reserved,
    .xFileControl = control,
    .xSectorSize = nothing,
    .xDeviceCharacteristics = nothing,
};

/* Written once, by `sqlite_keep_temporary_files_in_memory`. */
static sqlite3_vfs *files;
static sqlite3_vfs system_with_memory;

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *result_flags) {
  (void)vfs;
  if (name != NULL) return files->xOpen(files, name, file, flags, result_flags);
  *(memory_file *)file = (memory_file){{&methods}, NULL, 0, 0};
  if (result_flags) *result_flags = flags;
  return SQLITE_OK;
}

int sqlite_keep_temporary_files_in_memory(void) {
  files = sqlite3_vfs_find(NULL);
  if (files == NULL) return SQLITE_ERROR;
  system_with_memory = *files;
  system_with_memory.zName = "freshet";
  system_with_memory.pNext = NULL;
  system_with_memory.xOpen = open_file;
  if (system_with_memory.szOsFile < (int)sizeof(memory_file)) system_with_memory.szOsFile = sizeof(memory_file);
  return sqlite3_vfs_register(&system_with_memory, 1);
}
