import Synchronization

/// All sections of a version in order, shared by its snapshots, and what they are as JSON, which is written once.
///
/// Any thread.
package final class SectionList: Sendable {
  package let infos: [SectionInfo]
  private let json = Mutex<[UInt8]?>(nil)

  package init(_ infos: [SectionInfo]) { self.infos = infos }

  package func json(_ write: ([SectionInfo]) -> [UInt8]) -> [UInt8] {
    if let known = json.withLock({ $0 }) { return known }
    let written = write(infos)
    json.withLock { $0 = written }
    return written
  }
}
