import Logging
import Server
import Store

/// Lines of the log at the start that describe what is served.
struct Notices {
  let name: String
  private let path: String?
  private let absence: String?

  /// To be called only while nothing in this process has a database open, because it opens and closes files.
  init(_ served: ServeOptions.Served) {
    switch served {
    case .one(let path):
      self.path = path
      name = path
      absence = DatabaseFile.isThere(path) ? nil : DatabaseFile.absence(path)
    case .several(let paths):
      name = "the databases of \(paths.joined(separator: ", "))"
      (path, absence) = (nil, nil)
    }
  }

  func log(_ logger: Logger) {
    if let absence { logger.warning("waiting for the file: \(absence)") }
    if let path, MountedFile.isMounted(path) {
      logger.warning(
        "\(path) is mounted without its folder: another file that takes its name, and WAL mode, cannot be followed; mount the folder"
      )
    }
  }
}
