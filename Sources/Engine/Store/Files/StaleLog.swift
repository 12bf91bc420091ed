import Ground

/// A -wal that remained because this process had the database open while a program wrote over the file. The last
/// program that closes a database copies its -wal into the file and deletes the -wal. While a connection of ours is
/// open, the application is not the last. So if it is stopped and a backup is copied over its file, as its manual says,
/// the former -wal still exists, and SQLite would apply its pages to the backup.
enum StaleLog {
  #if os(Linux)
    /// Empties the -wal, if no connection of any process has the database open.
    ///
    /// An exclusive lock on all of SQLite's lock bytes proves that, and keeps all programs from opening the database
    /// until it is released. The lock belongs to the open file description, so it excludes other connections of this
    /// process as well.
    ///
    /// - Parameter generation: the salts of the only generation that may be emptied.
    static func discard(_ generation: UInt64, of files: WALFiles) {
      guard FileIdentity(path: files.path) == files.database, salts(files) == generation else { return }
      let file = open(files.path, O_RDWR | O_CLOEXEC)
      if file < 0 { return }
      var lock = flock()
      lock.l_type = Int16(F_WRLCK)
      lock.l_whence = Int16(SEEK_SET)
      lock.l_start = pendingByte
      lock.l_len = lockBytes
      // The descriptor stays open, because closing it would drop the locks of this process's connections. This is rare.
      guard fcntl(file, openFileLock, &lock) == 0 else { return }
      if salts(files) == generation, isOlder(files) { truncate(files.walPath, 0) }
      close(file)
    }

    /// Whether nothing was committed to the -wal since the file was written over. Compares the times of the last status
    /// change (ctime), because tools set the modification time.
    private static func isOlder(_ files: WALFiles) -> Bool {
      var log = stat()
      var database = stat()
      guard stat(files.walPath, &log) == 0, stat(files.path, &database) == 0 else { return false }
      return (log.st_mtim.tv_sec, log.st_mtim.tv_nsec) < (database.st_ctim.tv_sec, database.st_ctim.tv_nsec)
    }

    /// The salts of the -wal; nil if it is missing, or not the one that the connection had.
    private static func salts(_ files: WALFiles) -> UInt64? {
      guard let wal = files.wal, FileIdentity(path: files.walPath) == wal else { return nil }
      let file = open(files.walPath, O_RDONLY | O_CLOEXEC)
      if file < 0 { return nil }
      defer { close(file) }
      var salts: UInt64 = 0
      return pread(file, &salts, 8, saltOffset) == 8 ? salts : nil
    }

    /// `PENDING_BYTE` of https://sqlite.org/src/file/src/os.h, and how many bytes follow that SQLite locks.
    private static let pendingByte = 0x4000_0000
    private static let lockBytes = 512
    /// The offset of the salts in the header of a -wal.
    private static let saltOffset = 16
    /// `F_OFD_SETLK`, a macro that Swift does not import.
    private static let openFileLock: Int32 = 37
  #else
    /// Does nothing, because the system has no locks that exclude connections of the same process.
    static func discard(_ generation: UInt64, of files: WALFiles) {}
  #endif
}
