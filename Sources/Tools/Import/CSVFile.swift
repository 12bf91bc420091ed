#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file of bytes that can be read more than once.
///
/// What can be read only once (standard input, pipes) is copied to a temporary file that has no name and goes with the
/// process.
package final class CSVFile {
  /// As the user wrote it, for messages.
  package let name: String
  /// Bytes. What is added to the file later is not read.
  package let size: Int
  private let descriptor: Int32
  private let stamp: timespec

  /// - Parameter path: `-` is standard input.
  /// - Throws: `unreadable`.
  package init(_ path: String) throws(ImportError) {
    name = path == "-" ? "standard input" : path
    let opened = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else { throw Self.failure("cannot read \(name)") }
    var status = stat()
    guard fstat(opened, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
      close(opened)
      throw ImportError(.unreadable, "\(name) is a directory")
    }
    // Standard input may have been read from already.
    if status.st_mode & S_IFMT == S_IFREG && path != "-" {
      descriptor = opened
    } else {
      defer { close(opened) }
      descriptor = try Self.copy(opened, name)
      guard fstat(descriptor, &status) == 0 else { throw Self.failure("cannot read \(name)") }
    }
    size = Int(status.st_size)
    stamp = Self.modification(status)
  }

  deinit { close(descriptor) }

  /// Reads from a place of the file, as much as there is and fits.
  ///
  /// - Returns: how many bytes; 0 at the end.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
    let wanted = min(buffer.count, size - offset)
    while wanted > 0 {
      let count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
      if count >= 0 { return count }
      if errno != EINTR { throw Self.failure("cannot read \(name)") }
    }
    return 0
  }

  /// What is wrong with a line.
  func failure(_ line: Int, _ message: String) -> ImportError { ImportError(.badLine, "\(name):\(line): \(message)") }

  /// Whether it is what it was when it was opened.
  var isUnchanged: Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    let now = Self.modification(status)
    return Int(status.st_size) == size && now.tv_sec == stamp.tv_sec && now.tv_nsec == stamp.tv_nsec
  }

  private static func modification(_ status: stat) -> timespec {
    #if canImport(Darwin)
      status.st_mtimespec
    #else
      status.st_mtim
    #endif
  }

  private static func failure(_ what: String) -> ImportError {
    ImportError(.unreadable, "\(what): \(String(cString: strerror(errno)))")
  }

  /// - Returns: the descriptor of a file that has what is read from `source` until its end.
  private static func copy(_ source: Int32, _ name: String) throws(ImportError) -> Int32 {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(folder)/freshet-import-XXXXXX".utf8CString)
    let target = mkstemp(&template)
    guard target >= 0 else { throw failure("cannot make a temporary file in \(folder)") }
    unlink(template)
    do throws(ImportError) { try copy(source, to: target, name) } catch {
      close(target)
      throw error
    }
    return target
  }

  private static func copy(_ source: Int32, to target: Int32, _ name: String) throws(ImportError) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = systemRead(source, &buffer, buffer.count)
      if count == 0 { return }
      if count < 0 {
        if errno == EINTR { continue }
        throw failure("cannot read \(name)")
      }
      var written = 0
      while written < count {
        let part = buffer.withUnsafeBytes { write(target, $0.baseAddress! + written, count - written) }
        if part < 0, errno != EINTR { throw failure("cannot keep \(name) in a temporary file") }
        written += max(part, 0)
      }
    }
  }
}

/// `read(2)`, which a method of the same name would hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(descriptor, buffer, count)
}
