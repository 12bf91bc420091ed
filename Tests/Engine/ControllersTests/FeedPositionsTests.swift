import TestSupport
import Testing

@testable import Feed

/// Positions of the feed: clients cannot read them, and a position never belongs to two epochs.
@Suite struct FeedPositionsTests {
  @Test func `A position leads back to its number, also in the next process`() throws {
    let epoch = FeedPositions.newEpoch
    let positions = try #require(FeedPositions(epoch: epoch))
    let next = try #require(FeedPositions(epoch: epoch))
    for number in [0, 1, 2, 63, 64, 1 << 32, UInt64.max] {
      #expect(next.number(of: positions.name(behind: number)) == number)
      #expect(next.number(of: positions.name(ofEntry: number)) == number)
      #expect(next.name(ofEntry: number) == positions.name(ofEntry: number), "messages that come twice are known by it")
    }
  }

  @Test func `Neither how far it is nor whether anything happened can be read from a position`() throws {
    let positions = try #require(FeedPositions(epoch: FeedPositions.newEpoch))
    let names = (0..<1_000).map { $0 % 10 == 0 ? positions.name(ofEntry: $0 / 10) : positions.name(behind: $0 / 10) }
    #expect(Set(names).count == names.count && Set(names.map(\.count)).count == 1)
    // Each bit of a shown position is set in half of the cases.
    var ones = [Int](repeating: 0, count: 128)
    for name in names {
      let digits = name.split(separator: ".")[1].map { $0.hexDigitValue! }
      for (place, digit) in digits.enumerated() {
        for bit in 0..<4 where digit >> bit & 1 == 1 { ones[4 * place + bit] += 1 }
      }
    }
    #expect(ones.allSatisfy { (400...600).contains($0) })
  }

  @Test func `What is no position of the epoch has no number, or one that cannot be`() throws {
    let positions = try #require(FeedPositions(epoch: FeedPositions.newEpoch))
    let other = try #require(FeedPositions(epoch: FeedPositions.newEpoch))
    let good = positions.name(ofEntry: 7)
    for bad in ["", "x", "1.7", other.name(ofEntry: 7), String(good.dropLast()), good + "0", "é" + good.dropFirst(1)] {
      #expect(positions.number(of: bad) == nil, "\(bad)")
    }
    for place in good.indices where good[place].isHexDigit && place > good.firstIndex(of: ".")! {
      var forged = good
      forged.replaceSubrange(place...place, with: good[place] == "0" ? "1" : "0")
      #expect(positions.number(of: forged).map { $0 > 1 << 40 } == true, "\(forged)")
    }
    for epoch in ["", "1", "a-b", "a-!-b", "abc"] { #expect(FeedPositions(epoch: epoch) == nil) }
  }
}
