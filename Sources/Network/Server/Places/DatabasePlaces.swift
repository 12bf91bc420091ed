import CFreshetSystem
import Ground
import Store

/// Where the databases of a server are: files, and folders with files in them.
///
/// The contents of a folder are not cached: each request looks for its file.
package struct DatabasePlaces: Sendable {
  /// A folder, and which of the files in it are served.
  fileprivate struct Folder: Sendable {
    let path: String
    /// A pattern for the paths of files in the folder; nil: all files with one of `endings`.
    let pattern: String?
  }

  /// Endings of files in folders. If several files differ in the ending only, the first ending has the name.
  package static let endings = [".sqlite", ".sqlite3", ".db", ".db3"]

  private var files: [DatabaseName: String] = [:]
  private var folders: [Folder] = []

  /// No places.
  init() {}

  /// - Parameter paths: of files, of folders, and of files with `*`, `?` and `[…]` in their path.
  /// - Throws: one sentence.
  package init(_ paths: [String]) throws(ServerError) {
    for path in paths {
      if let place = path.firstIndex(where: { "*?[".contains($0) }), FileIdentity(path: path) == nil {
        let start = path[..<place].lastIndex(of: "/")
        let folder = start.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        try add(folder: folder, String(start.map { path[path.index(after: $0)...] } ?? path[...]))
      } else if Self.isFolder(path) {
        try add(folder: path, nil)
      } else {
        try add(file: path)
      }
    }
  }

  /// Whether these paths can name more than one file.
  package static func areSeveral(_ paths: [String]) -> Bool {
    paths.count > 1
      || paths.contains { isFolder($0) || ($0.contains { "*?[".contains($0) } && FileIdentity(path: $0) == nil) }
  }

  /// Whether they are one folder, and all databases in it.
  var isFolder: Bool { files.isEmpty && folders.count == 1 && folders[0].pattern == nil }

  private static func isFolder(_ path: String) -> Bool { Entry(path, followsLink: true) == .folder }

  private mutating func add(folder: String, _ pattern: String?) throws(ServerError) {
    guard Self.isFolder(folder) else { throw ServerError("there is no folder \(folder)") }
    folders.append(
      Folder(path: folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder, pattern: pattern))
  }

  private mutating func add(file path: String) throws(ServerError) {
    let last = path.split(separator: "/").last.map(String.init) ?? path
    guard let name = DatabaseName(Self.withoutEnding(last)) else {
      throw ServerError("\(path) cannot be served: a database may not have its name")
    }
    if let other = files.updateValue(path, forKey: name) {
      throw ServerError("\(other) and \(path) would both be called \(name): serve their folder")
    }
  }

  /// The name without the part after its last dot.
  private static func withoutEnding(_ name: String) -> String {
    guard let point = name.lastIndex(of: "."), point != name.startIndex, name[point...].firstIndex(of: "/") == nil
    else {
      return name
    }
    return String(name[..<point])
  }

  // MARK: - Looking

  /// The file of a name; nil: no such file. Some system calls.
  ///
  /// Links are not followed: one could lead out of the folder, or give a file two names.
  package func path(of name: DatabaseName) -> String? {
    if let path = files[name] { return path }
    for folder in folders {
      for relative in folder.candidates(of: name) where Self.isFile(relative, in: folder.path) {
        return "\(folder.path)/\(relative)"
      }
    }
    return nil
  }

  /// The path for a new file of a name: in the first folder; nil without a folder, or if something is in its way.
  func newPath(of name: DatabaseName) -> String? {
    guard let folder = folders.first(where: { $0.serves(name.description + Self.endings[0]) }) else { return nil }
    var path = folder.path
    for part in name.description.split(separator: "/").dropLast() {
      path += "/\(part)"
      if access(path, F_OK) == 0, Entry(path) != .folder { return nil }
    }
    return "\(folder.path)/\(name)\(Self.endings[0])"
  }

  /// Makes the folder of a file, and the folders above it, if they are missing.
  static func makeFolder(of path: String) throws(ServerError) {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
    let folder = String(path[..<slash])
    var status = stat()
    if lstat(folder, &status) == 0 { return }
    try makeFolder(of: folder)
    if mkdir(folder, 0o777) != 0, errno != EEXIST { throw ServerError(String(cString: strerror(errno))) }
  }

  private static func isFile(_ relative: String, in folder: String) -> Bool {
    var path = folder
    let parts = relative.split(separator: "/")
    for part in parts.dropLast() {
      path += "/\(part)"
      if Entry(path) != .folder { return false }
    }
    return Entry("\(path)/\(parts[parts.count - 1])") == .file
  }

  /// The names of all that are there now, sorted. Reads the folders.
  package var names: [DatabaseName] { names(limit: .max).sorted() }

  /// As `names`; nil if a folder cannot be read.
  var readableNames: [DatabaseName]? { folders.allSatisfy { access($0.path, R_OK | X_OK) == 0 } ? names : nil }

  /// The only database; nil: none or several.
  var only: DatabaseName? {
    let some = names(limit: 2)
    return some.count == 1 ? some.first : nil
  }

  private func names(limit: Int) -> Set<DatabaseName> {
    var all = Set(files.keys)
    for folder in folders {
      Self.visit(folder.path, "") { relative in
        guard all.count < limit else { return false }
        if folder.serves(relative), let name = DatabaseName(Self.withoutEnding(relative)) { all.insert(name) }
        return true
      }
    }
    return all
  }

  /// - Parameter found: called with the path of each file in the folder; false ends the visit.
  @discardableResult
  private static func visit(_ folder: String, _ prefix: String, _ found: (String) -> Bool) -> Bool {
    guard let directory = opendir(folder) else { return true }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasPrefix(".") { continue }
      let path = "\(folder)/\(name)"
      var kind = Entry(type: entry.pointee.d_type)
      // Some file systems do not report the kind of an entry.
      if kind == .unknown { kind = Entry(path) }
      switch kind {
      case .file: if !found(prefix + name) { return false }
      case .folder: if !visit(path, "\(prefix)\(name)/", found) { return false }
      case .other, .unknown: break
      }
    }
    return true
  }
}

extension DatabasePlaces.Folder {
  /// Whether a file in the folder is served.
  func serves(_ relative: String) -> Bool {
    guard let pattern else { return DatabasePlaces.endings.contains { relative.hasSuffix($0) } }
    return NamePattern.matches(relative, pattern, crossesFolders: false)
  }

  /// Candidates for the file of a name, as paths in the folder.
  func candidates(of name: DatabaseName) -> [String] {
    var endings = DatabasePlaces.endings
    if let pattern, let point = pattern.lastIndex(of: ".") {
      let ending = String(pattern[point...])
      if !endings.contains(ending) { endings.append(ending) }
    }
    return endings.map { name.description + $0 }.filter(serves)
  }
}

/// The target of a path.
private enum Entry {
  case file, folder, other, unknown

  init(_ path: String, followsLink: Bool = false) {
    var status = stat()
    guard (followsLink ? stat(path, &status) : lstat(path, &status)) == 0 else {
      self = .other
      return
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: self = .file
    case S_IFDIR: self = .folder
    default: self = .other
    }
  }

  init(type: UInt8) {
    switch Int(type) {
    case Int(DT_REG): self = .file
    case Int(DT_DIR): self = .folder
    case Int(DT_UNKNOWN): self = .unknown
    default: self = .other
    }
  }
}

/// `*`, `?` and `[…]` in names.
enum NamePattern {
  /// - Parameter crossesFolders: whether `*` stands for `/` too.
  static func matches(_ name: String, _ pattern: String, crossesFolders: Bool) -> Bool {
    fnmatch(pattern, name, crossesFolders ? 0 : FNM_PATHNAME) == 0
  }
}
