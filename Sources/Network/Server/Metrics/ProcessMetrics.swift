import Foundation
import Ground

/// The system's counts for this process; nil where it has none.
struct ProcessMetrics {
  let residentBytes: Int?
  let openDescriptors: Int?
  let processorSeconds: Double

  init() {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    residentBytes = pages?.dropFirst().first.flatMap { Int($0) }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
    // One descriptor is the directory's own while it is read.
    openDescriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { $0.count - 1 }
    // POSIX has `clock` count microseconds.
    processorSeconds = Double(clock()) / 1e6
  }
}
