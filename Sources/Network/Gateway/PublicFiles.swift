import Ground

/// Files of a directory: small ones, read whole at every request, so that an edited file is served at once.
///
/// Nothing outside the directory is reachable, whatever the path or a symbolic link says, and no hidden file.
struct PublicFiles: Sendable {
  /// The directory's real path.
  private let root: String

  init(_ directory: String) throws(GatewayError) {
    guard let probe = opendir(directory) else {
      throw GatewayError(message: "cannot read the directory \(directory): \(String(cString: strerror(errno)))")
    }
    closedir(probe)
    guard let root = Self.realPath(directory) else {
      throw GatewayError(message: "cannot read the directory \(directory): \(String(cString: strerror(errno)))")
    }
    self.root = root
  }

  /// A file that is open until it is let go of.
  struct File: ~Copyable {
    fileprivate let descriptor: Int32
    let type: String
    /// The version in its entity tag: it changes with the file.
    let version: String
    let size: Int

    deinit { close(descriptor) }

    /// Its contents; nil when it cannot be read whole.
    borrowing func read() -> [UInt8]? {
      let (descriptor, size) = (descriptor, size)
      let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        while count < size {
          let read = Ground.read(descriptor, buffer.baseAddress! + count, size - count)
          guard read > 0 else { return }
          count += read
        }
      }
      return bytes.count == size ? bytes : nil
    }
  }

  /// The regular file that a request's path names; nil when none is served.
  func open(_ path: String) -> File? {
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else { return nil }
    // Hidden names are refused both in the request's path and in the real path behind links.
    let wanted = path.utf8.last == UInt8(ascii: "/") ? path + "index.html" : path
    guard !Self.hasHiddenPart(wanted.utf8), let real = Self.realPath(root + wanted), isInside(real) else { return nil }
    let descriptor = Ground.open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    var about = stat()
    guard fstat(descriptor, &about) == 0, about.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    let changed = about.changed
    let version = [Int(changed.tv_sec), changed.tv_nsec, Int(about.st_size)].map { String($0, radix: 16) }.joined(
      separator: "-")
    return File(descriptor: descriptor, type: Self.type(of: real), version: version, size: Int(about.st_size))
  }

  private func isInside(_ path: String) -> Bool {
    let rest = path.utf8.dropFirst(root.utf8.count)
    return path.utf8.starts(with: root.utf8) && rest.first == UInt8(ascii: "/") && !Self.hasHiddenPart(rest)
  }

  /// Whether a name in a path begins with a dot: byte by byte, for in a text a dot may be a part of another character.
  private static func hasHiddenPart(_ path: some Collection<UInt8>) -> Bool {
    zip(path, path.dropFirst()).contains { $0 == UInt8(ascii: "/") && $1 == UInt8(ascii: ".") }
  }

  private static func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  /// Whether a script is asked for. `curl -o` saves the body of a 404 under the script's name, so that body is a script
  /// that reports the 404.
  static func isScript(_ path: String) -> Bool { type(of: path).hasPrefix("text/javascript") }

  private static func type(of path: String) -> String {
    let name = path.lowercased()
    return types.first { name.hasSuffix($0.suffix) && name.count > $0.suffix.count }?.type ?? "application/octet-stream"
  }

  private static let types: [(suffix: String, type: String)] = [
    (".html", "text/html; charset=utf-8"), (".css", "text/css; charset=utf-8"),
    (".js", "text/javascript; charset=utf-8"), (".mjs", "text/javascript; charset=utf-8"),
    (".json", "application/json"), (".map", "application/json"), (".webmanifest", "application/manifest+json"),
    (".svg", "image/svg+xml"), (".png", "image/png"), (".jpg", "image/jpeg"), (".ico", "image/x-icon"),
    (".woff2", "font/woff2"), (".txt", "text/plain; charset=utf-8"), (".md", "text/plain; charset=utf-8"),
    (".ts", "text/plain; charset=utf-8"), (".wasm", "application/wasm"),
  ]
}

extension stat {
  /// When the file was last changed.
  fileprivate var changed: timespec {
    #if canImport(Darwin)
      st_mtimespec
    #else
      st_mtim
    #endif
  }
}
