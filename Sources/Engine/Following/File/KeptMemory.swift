package import Ground

/// The state of a follower that is kept with its capture's state: its epoch and commits.
package struct KeptMemory: KeptWithState {
  /// The epoch that the numbers belong to.
  package var epoch: String
  /// The highest number that was given so far.
  package var highest: Int64
  /// For each table, by name: the first commit since which it certainly has not changed.
  package var tables: [String: Int64] = [:]
  /// For each list that was followed, by the name of its query: the first commit since which it has not changed.
  package var lists: [String: Int64] = [:]
  /// The commits that ticks have seen.
  package var seen = SeenCommits()
  /// The outcomes of repeatable transactions, encoded. They are kept with the first follower.
  var promises: [UInt8] = []

  package init(epoch: String, highest: Int64) {
    self.epoch = epoch
    self.highest = highest
  }

  package init(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
    self.init(epoch: try reader.text(), highest: try reader.commit())
    tables = try reader.numbers()
    lists = try reader.numbers()
    for _ in 0..<(try reader.count(ofAtLeast: 2)) {
      let (first, last) = (try reader.commit(), try reader.commit())
      guard first <= last, last <= highest, seen.add(first...last) else { throw ByteReader.Malformed() }
    }
    promises = Array(try reader.counted())
    if epoch.isEmpty { throw ByteReader.Malformed() }
  }

  package func add(to writer: inout ByteWriter) {
    writer.add(epoch)
    writer.add(UInt64(highest))
    writer.add(tables)
    writer.add(lists)
    let seen = seen.newest
    writer.add(seen.count)
    for range in seen {
      writer.add(UInt64(range.lowerBound))
      writer.add(UInt64(range.upperBound))
    }
    writer.add(promises)
  }
}

extension ByteReader {
  fileprivate mutating func commit() throws(Malformed) -> Int64 { Int64(try packed(upTo: UInt64(Int64.max))) }

  /// Reads numbers that are not negative, by name.
  package mutating func numbers<Number: FixedWidthInteger>() throws(Malformed) -> [String: Number] {
    var numbers: [String: Number] = [:]
    for _ in 0..<(try count(ofAtLeast: 2)) {
      let name = try text()
      numbers[name] = Number(try packed(upTo: UInt64(Number.max)))
    }
    return numbers
  }
}

extension ByteWriter {
  package mutating func add(_ numbers: [String: some FixedWidthInteger]) {
    add(numbers.count)
    for (name, number) in numbers {
      add(name)
      add(UInt64(number))
    }
  }
}
