/* A VFS around the default one. Files that are not armed behave as usual, so that other tests of the process are not
   affected. */
#include "CFaultyFiles.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

/* The real file follows this struct in memory. */
typedef struct {
  sqlite3_file base;
  sqlite3_io_methods methods;
  const char *path;
} FaultyFile;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by `lock`. */
static struct {
  char path[1024];
  int remaining;
  bool is_armed, only_once, has_failed;
  int hidden_looks;
} fault;

static sqlite3_vfs vfs;
static sqlite3_vfs *real_vfs;

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((FaultyFile *)file + 1); }

/* Counts an operation on a file. Returns whether it is to fail. */
static bool fails(sqlite3_file *file) {
  const char *path = ((FaultyFile *)file)->path;
  bool result = false;
  pthread_mutex_lock(&lock);
  if (fault.is_armed && path && strncmp(path, fault.path, strlen(fault.path)) == 0 && --fault.remaining <= 0) {
    result = fault.has_failed = true;
    if (fault.only_once) fault.is_armed = false;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

void faulty_files_arm(const char *path, int number, bool only_once) {
  pthread_mutex_lock(&lock);
  strncpy(fault.path, path, sizeof fault.path - 1);
  fault.remaining = number;
  fault.only_once = only_once;
  fault.has_failed = false;
  fault.is_armed = true;
  pthread_mutex_unlock(&lock);
}

void faulty_files_hide_writers(const char *path, int count) {
  pthread_mutex_lock(&lock);
  strncpy(fault.path, path, sizeof fault.path - 1);
  fault.hidden_looks = count;
  pthread_mutex_unlock(&lock);
}

/* Whether this check for a file's writers is one that must not find them. */
static bool finds_nobody(sqlite3_file *file) {
  const char *path = ((FaultyFile *)file)->path;
  pthread_mutex_lock(&lock);
  bool result = fault.hidden_looks > 0 && path && strncmp(path, fault.path, strlen(fault.path)) == 0;
  if (result) fault.hidden_looks--;
  pthread_mutex_unlock(&lock);
  return result;
}

bool faulty_files_heal(void) {
  pthread_mutex_lock(&lock);
  fault.is_armed = false;
  bool has_failed = fault.has_failed;
  pthread_mutex_unlock(&lock);
  return has_failed;
}

/* Calls that may fail. */

static int file_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
  if (fails(file)) return SQLITE_IOERR_READ;
  return real(file)->pMethods->xRead(real(file), buffer, count, offset);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  if (fails(file)) return SQLITE_IOERR_FSTAT;
  return real(file)->pMethods->xFileSize(real(file), size);
}

static int file_lock(sqlite3_file *file, int level) {
  if (fails(file)) return SQLITE_IOERR_LOCK;
  return real(file)->pMethods->xLock(real(file), level);
}

static int file_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **memory) {
  if (fails(file)) return SQLITE_IOERR_SHMMAP;
  return real(file)->pMethods->xShmMap(real(file), region, size, extend, memory);
}

/* Giving up a lock cannot fail. */
static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  if ((flags & SQLITE_SHM_LOCK) && fails(file)) return SQLITE_IOERR_SHMLOCK;
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

/* Calls that are passed to the real file. */

static int file_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }
static int file_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
  return real(file)->pMethods->xWrite(real(file), buffer, count, offset);
}
static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  return real(file)->pMethods->xTruncate(real(file), size);
}
static int file_sync(sqlite3_file *file, int flags) { return real(file)->pMethods->xSync(real(file), flags); }
static int file_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
static int file_check_reserved(sqlite3_file *file, int *result) {
  if (finds_nobody(file)) {
    *result = 0;
    return SQLITE_OK;
  }
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}
static int file_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
static int file_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }
static int file_characteristics(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}
static void file_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }
static int file_shm_unmap(sqlite3_file *file, int deletes) {
  return real(file)->pMethods->xShmUnmap(real(file), deletes);
}

/* Without xFetch: pages are always read, never mapped. */
static const sqlite3_io_methods faulty_methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static int vfs_open(sqlite3_vfs *self, const char *path, sqlite3_file *file, int flags, int *out_flags) {
  (void)self;
  FaultyFile *faulty = (FaultyFile *)file;
  memset(faulty, 0, sizeof *faulty);
  /* SQLite keeps the name for as long as the file is open. */
  faulty->path = path;
  int code = real_vfs->xOpen(real_vfs, path, real(file), flags, out_flags);
  /* A real file without methods is not open; then this one gets none either. */
  if (real(file)->pMethods) {
    faulty->methods = faulty_methods;
    if (real(file)->pMethods->iVersion < 2) faulty->methods.iVersion = 1;
    file->pMethods = &faulty->methods;
  }
  return code;
}

static void install(void) {
  real_vfs = sqlite3_vfs_find(NULL);
  vfs = *real_vfs;
  vfs.zName = "freshet-faulty";
  vfs.szOsFile += (int)sizeof(FaultyFile);
  vfs.pNext = NULL;
  vfs.xOpen = vfs_open;
  sqlite3_vfs_register(&vfs, 1);
}

void faulty_files_install(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
}
