/// An array in chunks: inserting or removing a row does not move all later rows, and a changed copy shares all chunks
/// but one with the original.
///
/// Index look-up, insertion and removal are O(count / 512 + 512) with small constants.
struct RowSequence<Element> {
  /// No chunk is empty or longer than `most`.
  private var chunks: [[Element]] = []
  private(set) var count = 0

  private static var most: Int { 512 }

  init() {}

  init(_ elements: some Collection<Element>) {
    var rest = elements[...]
    while !rest.isEmpty {
      chunks.append(Array(rest.prefix(Self.most / 2)))
      rest = rest.dropFirst(Self.most / 2)
    }
    count = elements.count
  }

  /// - Precondition: there is such an element.
  subscript(index: Int) -> Element {
    get {
      let (chunk, place) = find(index)
      return chunks[chunk][place]
    }
    set {
      let (chunk, place) = find(index)
      chunks[chunk][place] = newValue
    }
  }

  mutating func insert(_ element: Element, at index: Int) {
    count += 1
    if chunks.isEmpty { return chunks.append([element]) }
    // At the end of a chunk rather than before the first of the next, because appending is the most frequent.
    var (chunk, place) = index == 0 ? (0, 0) : find(index - 1)
    if index > 0 { place += 1 }
    if chunks[chunk].count == Self.most {
      let half = Self.most / 2
      let tail = Array(chunks[chunk][half...])
      chunks[chunk].removeSubrange(half...)
      chunks.insert(tail, at: chunk + 1)
      if place > half { (chunk, place) = (chunk + 1, place - half) }
    }
    chunks[chunk].insert(element, at: place)
  }

  @discardableResult
  mutating func remove(at index: Int) -> Element {
    let (chunk, place) = find(index)
    count -= 1
    let element = chunks[chunk].remove(at: place)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    return element
  }

  /// The elements from an index on, without a look-up for each.
  func elements(from index: Int) -> some Sequence<Element> {
    let (chunk, place) = index == count ? (chunks.count, 0) : find(index)
    return chunks[chunk...].joined().dropFirst(place)
  }

  private func find(_ index: Int) -> (chunk: Int, place: Int) {
    precondition(index >= 0 && index < count, "there is no row \(index) of \(count)")
    var rest = index
    for (number, chunk) in chunks.enumerated() {
      if rest < chunk.count { return (number, rest) }
      rest -= chunk.count
    }
    preconditionFailure("the chunks have as many elements as `count` says")
  }
}

extension RowSequence {
  /// Makes elements nil. Chunks whose elements there are nil already stay as they are, and shared.
  ///
  /// - Precondition: there are such elements.
  mutating func clear<Wrapped>(_ range: Range<Int>) where Element == Wrapped? {
    var start = 0
    for chunk in chunks.indices where start < range.upperBound {
      let count = chunks[chunk].count
      let places = range.clamped(to: start..<start + count)
      for place in places.lowerBound - start..<places.upperBound - start where chunks[chunk][place] != nil {
        chunks[chunk][place] = nil
      }
      start += count
    }
  }
}

extension RowSequence: Sendable where Element: Sendable {}

extension RowSequence: RandomAccessCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { count }
}
