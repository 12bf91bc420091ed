import Synchronization

/// All sections of a version in order, shared by its snapshots. They are encoded only once.
///
/// Any thread.
package final class SectionList: Sendable {
  package let infos: [SectionInfo]
  private let encoded = Mutex<[UInt8]?>(nil)

  package init(_ infos: [SectionInfo]) { self.infos = infos }

  /// The bytes that `encode` makes of the sections; `encode` must be the same in all calls.
  package func encoded(by encode: ([SectionInfo]) -> [UInt8]) -> [UInt8] {
    if let known = encoded.withLock({ $0 }) { return known }
    let made = encode(infos)
    encoded.withLock { $0 = made }
    return made
  }
}
