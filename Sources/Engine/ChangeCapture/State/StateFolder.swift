import Ground

/// The folder for states: one of the user or of the service. It is next to the database only if that is requested.
package enum StateFolder {
  /// A subfolder of the service's state directory (`StateDirectory=` of systemd), where databases may be, else the
  /// user's: `$XDG_STATE_HOME/freshet`, by default `~/.local/state/freshet`.
  ///
  /// - Returns: nil if the environment names no such folder.
  package static func standard(_ environment: [String: String]) -> String? {
    if let folder = environment["STATE_DIRECTORY"]?.split(separator: ":").first, folder.hasPrefix("/") {
      return folder + "/state"
    }
    // The XDG specification says that relative paths are to be ignored.
    if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") { return folder + "/freshet" }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return home + "/.local/state/freshet"
  }

  /// The path of a state without its suffix: readable, and different for each database.
  ///
  /// - Parameters:
  ///   - database: its path. Different paths of the same file, as through symbolic links, give the same result. The
  ///     file need not exist.
  ///   - part: the purpose of the state.
  package static func stem(of database: String, part: String, in folder: String) -> String {
    let path = realPath(database)
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    let readable = name.unicodeScalars.prefix(48).map { scalar in
      scalar.isASCII
        && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "." || scalar == "-")
        ? Character(scalar) : "_"
    }
    var digits = String(hash(path), radix: 16)
    digits = String(repeating: "0", count: 16 - digits.count) + digits
    return "\(folder)/\(String(readable))-\(digits).\(part)"
  }

  /// The FNV-1a hash, which is the same in every process.
  private static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 }
  }

  private static func realPath(_ path: String) -> String {
    if let resolved = resolve(path) { return resolved }
    // The file does not exist yet.
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    guard let name = parts.last else { return path }
    let isAbsolute = path.hasPrefix("/")
    let parent = (isAbsolute ? "/" : "") + parts.dropLast().joined(separator: "/")
    return (resolve(parent.isEmpty ? "." : parent) ?? parent) + "/" + name
  }

  private static func resolve(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Creates a folder and its parents, which only the user may access. Existing folders are not changed.
  static func make(_ folder: String) throws(StateFailure) {
    var path = folder.hasPrefix("/") ? "" : "."
    for part in folder.split(separator: "/") {
      path += "/" + part
      if mkdir(path, 0o700) == 0 || errno == EEXIST { continue }
      // For an existing folder, mkdir may fail with another code than EEXIST if the parent folder cannot be written to.
      let code = errno
      var status = stat()
      if stat(path, &status) != 0 { throw StateFailure("cannot make the folder \(path)", code) }
    }
  }
}

/// Why a state cannot be kept, as one sentence.
package struct StateFailure: Error, CustomStringConvertible {
  package let description: String
  /// Whether another process uses the file.
  package private(set) var isOfAnother = false

  init(_ what: String) { description = what }
  package init(_ what: String, _ code: Int32) { description = "\(what): \(String(cString: strerror(code)))" }

  static func keptByAnother(_ path: String) -> Self {
    var failure = StateFailure("another server of this file keeps its state: \(path)")
    failure.isOfAnother = true
    return failure
  }
}
