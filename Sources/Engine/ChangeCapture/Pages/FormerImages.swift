/// Images of pages in the database file that were read early, because a checkpoint may overwrite them before the tick
/// needs them.
///
/// They need not be the right ones: hashes prove former rows, wherever these are read.
///
/// Owner: the thread that follows the file.
final class FormerImages {
  /// The most memory. Pages above it are not read early, and may be overwritten.
  private static let mostBytes = 16 << 20

  private let images = ByteBuffer()
  /// Where each page's image is in `images`.
  @exclusivity(unchecked) private var places: [UInt32: Int] = [:]

  subscript(page: UInt32) -> UnsafeRawPointer? { places[page].map { UnsafeRawPointer(images.start + $0) } }

  /// Reads a page, unless it was read before, because a later image is not the former one.
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
