import Logging
import Server
import Store

/// Lines of the log at the start that describe what is served.
struct Notices {
  let name: String
  private let served: ServeOptions.Served
  private let hasWAL: Bool?
  private let absence: String?

  /// Only while nothing in this process has a database open, as `DatabaseFile.hasWAL`.
  init(_ served: ServeOptions.Served) {
    self.served = served
    switch served {
    case .one(let path):
      name = path
      hasWAL = DatabaseFile.hasWAL(path)
      absence = DatabaseFile.isThere(path) ? nil : DatabaseFile.absence(path)
    case .several(let paths):
      name = "the databases of \(paths.joined(separator: ", "))"
      (hasWAL, absence) = (nil, nil)
    }
  }

  func log(_ logger: Logger) {
    if let absence { logger.warning("waiting for the file: \(absence)") }
    if case .one(let path) = served { logHowFollowed(path, logger) }
    if hasWAL != false, let notice = WALResetBug.notice { logger.notice("\(notice)") }
  }

  private func logHowFollowed(_ path: String, _ logger: Logger) {
    switch hasWAL {
    case true?: logger.info("following \(path) row by row, from its write-ahead log")
    case false?:
      logger.warning(
        "\(path) has a rollback journal: whole tables are compared after each commit; PRAGMA journal_mode = WAL, once, makes that row by row"
      )
    case nil: break
    }
    if MountedFile.isMounted(path) {
      logger.warning(
        "\(path) is mounted without its folder: another file that takes its name, and WAL mode, cannot be followed; mount the folder"
      )
    }
  }
}
