import Ground
import Testing

@Suite struct SmallDictionaryTests {
  @Test func `It holds what a dictionary does, after every sequence of four changes`() {
    let changes: [(key: Int, value: Int?)] = [(1, 1), (1, 2), (1, nil), (2, 3), (2, nil), (3, 4), (3, nil)]
    func explore(_ small: SmallDictionary<Int, Int>, _ large: [Int: Int], _ depth: Int) {
      #expect(small.count == large.count && small.isEmpty == large.isEmpty)
      #expect(Dictionary(uniqueKeysWithValues: small.all.map { ($0.key, $0.value) }) == large)
      for key in 1...3 { #expect(small[key] == large[key]) }
      if depth == 0 { return }
      for (key, value) in changes {
        var (small, large) = (small, large)
        small[key] = value
        large[key] = value
        explore(small, large, depth - 1)
      }
    }
    explore(SmallDictionary(), [:], 4)
  }
}
