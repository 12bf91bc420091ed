/// Images of pages in the database file that were read ahead of a tick, as a checkpoint may overwrite them before the
/// tick comes to them.
///
/// They are what the file had at some time, no more: hashes prove former rows, wherever they are read.
///
/// Owner: the thread that follows the file.
final class FormerImages {
  /// More is left to chance.
  private static let mostBytes = 16 << 20

  private let images = ByteBuffer()
  /// Where they are in `images`.
  @exclusivity(unchecked) private var places: [UInt32: Int] = [:]

  subscript(page: UInt32) -> UnsafeRawPointer? { places[page].map { UnsafeRawPointer(images.start + $0) } }

  /// Reads a page, unless it was read before: what came later is no former image.
  func read(_ page: UInt32, _ pageSize: Int, from database: some ByteSource) {
    guard page > 0, places[page] == nil, images.count + pageSize <= Self.mostBytes else { return }
    let place = images.count
    let target = images.grow(by: pageSize)
    if (try? database.read(into: target, pageSize, at: (Int(page) - 1) * pageSize)) == true {
      places[page] = place
    } else {
      images.resize(to: place)
    }
  }

  func removeAll() {
    if places.isEmpty { return }
    places.removeAll()
    images.trim(to: 1 << 20)
    images.removeAll()
  }
}
