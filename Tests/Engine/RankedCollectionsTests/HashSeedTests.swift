import Ground
import Testing

@testable import RankedCollections

/// Keys that a client constructs so that all of them have the same hash.
@Suite struct HashSeedTests {
  /// For a known seed, the second word cancels the effect of the first one on the state.
  private static func crafted(_ number: UInt64, seed: UInt64) -> [UInt8] {
    let state = Bytes.mix(seed ^ 0xA076_1D64_78BD_642F ^ number, 0xE703_7ED1_A0B4_28DB)
    return [number, state].flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
  }

  private static let keys = (1...20_000).map { crafted($0, seed: 0) }

  @Test func `Keys made for a known seed share one hash`() {
    #expect(Set(Self.keys.map { $0.withUnsafeBytes { $0.hash(seed: 0) } }).count == 1)
  }

  @Test func `They do not in any hash table`() {
    let distinct = { (hash: (Bytes) -> UInt32) in Set(Self.keys.map { $0.withUnsafeBytes(hash) }).count }
    #expect(distinct(IdentityIndex.hash) > 19_900)
    #expect(distinct(IdentityNumbers.hash) > 19_900)
  }
}
