/// The part of a payload that does not fit on its row's page.
struct OverflowChain {
  /// The b-tree page that has the row.
  var owner: UInt32
  var byteCount: Int
  var hash: UInt64
  /// In order. An update of the same size, or an incremental blob write, may change one of these pages and nothing
  /// else.
  var pages: [UInt32]
}

/// The overflow chains of one table.
///
/// Owner: the thread that follows the file. Mutable state: the chains by their first pages, and for each page of a
/// chain its first one. Adding and removing a chain change both.
final class ChainTable {
  @exclusivity(unchecked) private var chains: [UInt32: OverflowChain] = [:]
  /// From each page of a chain to the first one.
  @exclusivity(unchecked) private var firstOfPage: [UInt32: UInt32] = [:]

  var isEmpty: Bool { chains.isEmpty }

  subscript(first: UInt32) -> OverflowChain? { chains[first] }

  var all: [UInt32: OverflowChain] { chains }

  func hasSameHashes(as other: ChainTable) -> Bool {
    chains.count == other.chains.count && chains.allSatisfy { first, chain in other[first]?.hash == chain.hash }
  }

  /// The b-tree page with the row that an overflow page belongs to.
  func owner(ofPage page: UInt32) -> UInt32? { firstOfPage[page].flatMap { chains[$0]?.owner } }

  func add(_ added: [UInt32: OverflowChain]) {
    for (first, chain) in added {
      chains[first] = chain
      for page in chain.pages { firstOfPage[page] = first }
    }
  }

  func remove(_ firsts: [UInt32]) {
    for first in firsts {
      guard let chain = chains.removeValue(forKey: first) else { continue }
      for page in chain.pages where firstOfPage[page] == first { firstOfPage[page] = nil }
    }
  }

  /// The approximate memory.
  var byteCount: Int { chains.count * 96 + firstOfPage.count * 20 }
}

/// Finds a cycle in a chain of pages without remembering them (Brent): a damaged file must not be read for ever.
struct CycleDetector {
  private var mark: UInt32 = 0
  private var length = 0
  private var power = 1

  /// - Returns: whether the chain has come to a page a second time.
  mutating func visit(_ page: UInt32) -> Bool {
    if page == mark { return true }
    length += 1
    if length == power {
      mark = page
      power *= 2
      length = 0
    }
    return false
  }
}
