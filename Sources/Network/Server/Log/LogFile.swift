import Ground

/// A file that whole lines are appended to.
///
/// Owner: one thread at a time.
struct LogFile: ~Copyable {
  private let destination: LogDestination
  private var descriptor: Int32
  /// Part of the last line was written before the disk was full, and could not be removed: the next line begins with a
  /// line feed.
  private var isTorn = false

  /// - Throws: `errno`.
  init(_ destination: LogDestination) throws(SystemError) {
    self.destination = destination
    descriptor = try Self.opened(destination)
  }

  deinit { if descriptor != STDOUT_FILENO { close(descriptor) } }

  private static func opened(_ destination: LogDestination) throws(SystemError) -> Int32 {
    guard case .file(let path) = destination else { return STDOUT_FILENO }
    // Other users must not read who did what.
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
    if descriptor < 0 { throw SystemError(code: errno) }
    return descriptor
  }

  /// Why a file cannot be appended to, as a sentence; nil: no reason is known. Does not create the file.
  static func mistake(at path: String) -> String? {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let isThere = access(path, F_OK) == 0
    if isThere ? access(path, W_OK) == 0 : access(folder, W_OK | X_OK) == 0 { return nil }
    return "cannot open the log \(path): \(String(cString: strerror(errno)))"
  }

  /// Opens the file that has the name now; the one that was open stays when that fails.
  mutating func reopen() throws(SystemError) {
    guard case .file = destination else { return }
    let opened = try Self.opened(destination)
    close(descriptor)
    descriptor = opened
    isTorn = false
  }

  /// - Returns: how many bytes of the lines were written, and the error that stopped the rest.
  mutating func write(_ lines: [UInt8]) -> (written: Int, error: SystemError?) {
    if isTorn {
      if let error = append([UInt8(ascii: "\n")]).error { return (0, error) }
      isTorn = false
    }
    var (written, error) = append(lines)
    let torn = lines[..<written].reversed().prefix { $0 != UInt8(ascii: "\n") }.count
    if error != nil, torn > 0, removeEnd(torn) { written -= torn } else { isTorn = torn > 0 }
    return (written, error)
  }

  /// Removes the part of a line again, so that readers of the log never see it.
  ///
  /// - Returns: false if it cannot be removed, because the file has no length, or another program has written after the
  ///   line.
  private func removeEnd(_ count: Int) -> Bool {
    let position = lseek(descriptor, 0, SEEK_CUR)
    guard position >= count, lseek(descriptor, 0, SEEK_END) == position else { return false }
    return ftruncate(descriptor, position - off_t(count)) == 0
  }

  private func append(_ bytes: [UInt8]) -> (written: Int, error: SystemError?) {
    bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let count = systemWrite(descriptor, bytes.baseAddress! + written, bytes.count - written)
        if count > 0 {
          written += count
        } else if count < 0, errno == EINTR {
          continue
        } else {
          return (written, SystemError(code: count == 0 ? EIO : errno))
        }
      }
      return (written, nil)
    }
  }

  /// Syncs the file, so that its lines survive a crash of the machine, if it is a file that can be synced.
  func sync() throws(SystemError) {
    #if os(Linux)
      let code = fdatasync(descriptor)
    #else
      let code = fsync(descriptor)
    #endif
    // Pipes and devices cannot be synced.
    if code != 0, errno != EINVAL, errno != ENOTSUP, errno != EROFS { throw SystemError(code: errno) }
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}

/// The system's message for a call that failed.
struct SystemError: Error, CustomStringConvertible {
  let code: Int32
  var description: String { String(cString: strerror(code)) }
}
