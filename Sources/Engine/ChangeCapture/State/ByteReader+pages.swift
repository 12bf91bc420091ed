import Ground

extension ByteReader {
  mutating func page() throws(Malformed) -> UInt32 { UInt32(try packed(upTo: UInt64(UInt32.max))) }

  mutating func pages() throws(Malformed) -> [UInt32] {
    let count = try count()
    if count == 0 { return [] }
    var pages: [UInt32] = []
    pages.reserveCapacity(count)
    for _ in 0..<count { pages.append(try page()) }
    return pages
  }
}
