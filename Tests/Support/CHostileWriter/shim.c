#include "shim.h"

#include <sqlite3.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

int shim_counts = 0;
long shim_calls_left = -1;

typedef struct {
  sqlite3_file base;
  sqlite3_file *real;
} File;

static sqlite3_vfs *real_vfs;
static sqlite3_vfs shim_vfs;

static sqlite3_file *real(sqlite3_file *file) { return ((File *)file)->real; }

static int is_last_call(void) {
  if (!shim_counts || shim_calls_left < 0) return 0;
  return --shim_calls_left < 0;
}

static void count(void) {
  if (is_last_call()) _exit(9);
}

static int shim_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int shim_read(sqlite3_file *file, void *target, int size, sqlite3_int64 offset) {
  return real(file)->pMethods->xRead(real(file), target, size, offset);
}

static int shim_write(sqlite3_file *file, const void *source, int size, sqlite3_int64 offset) {
  if (is_last_call()) {
    real(file)->pMethods->xWrite(real(file), source, size / 2, offset);
    _exit(9);
  }
  return real(file)->pMethods->xWrite(real(file), source, size, offset);
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 size) {
  count();
  return real(file)->pMethods->xTruncate(real(file), size);
}

static int shim_sync(sqlite3_file *file, int flags) {
  count();
  // Syncing is skipped: the kernel keeps everything that a dying process has written.
  (void)file;
  (void)flags;
  return SQLITE_OK;
}

static int shim_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}

static int shim_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }

static int shim_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }

static int shim_reserved(sqlite3_file *file, int *result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int shim_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int shim_sector(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int shim_device(sqlite3_file *file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }

static int shim_shm_map(sqlite3_file *file, int region, int size, int extends, void volatile **memory) {
  return real(file)->pMethods->xShmMap(real(file), region, size, extends, memory);
}

static int shim_shm_lock(sqlite3_file *file, int offset, int n, int flags) {
  count();
  return real(file)->pMethods->xShmLock(real(file), offset, n, flags);
}

// SQLite calls this between writing the two copies of the WAL-index header, among other moments.
static void shim_shm_barrier(sqlite3_file *file) {
  count();
  real(file)->pMethods->xShmBarrier(real(file));
}

static int shim_shm_unmap(sqlite3_file *file, int deletes) {
  return real(file)->pMethods->xShmUnmap(real(file), deletes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = shim_close,
    .xRead = shim_read,
    .xWrite = shim_write,
    .xTruncate = shim_truncate,
    .xSync = shim_sync,
    .xFileSize = shim_size,
    .xLock = shim_lock,
    .xUnlock = shim_unlock,
    .xCheckReservedLock = shim_reserved,
    .xFileControl = shim_control,
    .xSectorSize = shim_sector,
    .xDeviceCharacteristics = shim_device,
    .xShmMap = shim_shm_map,
    .xShmLock = shim_shm_lock,
    .xShmBarrier = shim_shm_barrier,
    .xShmUnmap = shim_shm_unmap,
};

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *result) {
  (void)vfs;
  File *opened = (File *)file;
  opened->real = (sqlite3_file *)((char *)file + sizeof(File));
  int code = real_vfs->xOpen(real_vfs, name, opened->real, flags, result);
  opened->base.pMethods = opened->real->pMethods ? &methods : NULL;
  return code;
}

static int shim_delete(sqlite3_vfs *vfs, const char *name, int syncs) {
  (void)vfs;
  count();
  return real_vfs->xDelete(real_vfs, name, syncs);
}

void shim_install(void) {
  real_vfs = sqlite3_vfs_find(NULL);
  shim_vfs = *real_vfs;
  shim_vfs.zName = "shim";
  shim_vfs.pNext = NULL;
  shim_vfs.szOsFile = (int)sizeof(File) + real_vfs->szOsFile;
  shim_vfs.xOpen = shim_open;
  shim_vfs.xDelete = shim_delete;
  sqlite3_vfs_register(&shim_vfs, 1);
}
