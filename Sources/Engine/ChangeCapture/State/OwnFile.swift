import Ground

/// Files that only the user may access (0600). Files with other permissions are not used.
package enum OwnFile {
  /// Opens an existing file.
  ///
  /// - Returns: nil if there is no such file.
  static func open(_ path: String, _ flags: Int32) throws(StateFailure) -> (descriptor: Int32, status: stat)? {
    let descriptor = systemOpen(path, flags | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0 {
      if errno == ENOENT { return nil }
      throw StateFailure("cannot open \(path)", errno)
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
      status.st_mode & 0o077 == 0
    else {
      close(descriptor)
      throw StateFailure("\(path) is not used: it does not belong to this user alone")
    }
    return (descriptor, status)
  }

  /// - Returns: nil if there is no such file.
  package static func contents(of path: String) throws(StateFailure) -> [UInt8]? {
    guard let (descriptor, status) = try open(path, O_RDONLY) else { return nil }
    defer { close(descriptor) }
    return try contents(of: path, descriptor, status)
  }

  static func contents(of path: String, _ descriptor: Int32, _ status: stat) throws(StateFailure) -> [UInt8] {
    let size = Int(status.st_size)
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size, let start = buffer.baseAddress {
        let read = pread(descriptor, start + count, size - count, off_t(count))
        if read < 0, errno == EINTR { continue }
        if read < 0 { failure = errno }
        if read <= 0 { break }
        count += read
      }
    }
    if failure != 0 { throw StateFailure("cannot read \(path)", failure) }
    return bytes
  }

  /// Creates a file, which the caller renames when it is complete. Removes a file of this name that an earlier process
  /// left.
  ///
  /// - Returns: the file's descriptor.
  package static func make(_ path: String) throws(StateFailure) -> Int32 {
    unlink(path)
    let descriptor = systemOpen(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 { throw StateFailure("cannot write \(path)", errno) }
    return descriptor
  }

  /// - Returns: false if not all bytes could be written; `errno` says why.
  package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var done = 0
    while done < bytes.count, let start = bytes.baseAddress {
      let written = systemWrite(descriptor, start + done, bytes.count - done)
      if written < 0, errno == EINTR { continue }
      if written <= 0 { return false }
      done += written
    }
    return true
  }
}

// The system's functions, whose names methods of these types hide.

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 { open(path, flags, mode) }

private func systemWrite(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
  write(descriptor, start, count)
}
