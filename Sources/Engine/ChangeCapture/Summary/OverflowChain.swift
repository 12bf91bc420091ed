/// The part of a payload that does not fit on its row's page.
struct OverflowChain {
  /// The b-tree page that has the row.
  var owner: UInt32
  var byteCount: Int
  var hash: UInt64
  /// The pages in order. An update of the same size, or an incremental blob write, may change only one of them.
  var pages: [UInt32]
}

/// The overflow chains of one table.
///
/// Owner: the thread that follows the file. Mutable state: the chains by their first pages, and the first page of the
/// chain of each overflow page. Adding and removing a chain change both.
final class ChainTable {
  @exclusivity(unchecked) private var chains: [UInt32: OverflowChain] = [:]
  /// For each overflow page, the first page of its chain.
  @exclusivity(unchecked) private var firstOfPage: [UInt32: UInt32] = [:]

  var isEmpty: Bool { chains.isEmpty }

  subscript(first: UInt32) -> OverflowChain? { chains[first] }

  var all: [UInt32: OverflowChain] { chains }

  func hasSameHashes(as other: ChainTable) -> Bool {
    chains.count == other.chains.count && chains.allSatisfy { first, chain in other[first]?.hash == chain.hash }
  }

  /// The b-tree page whose row an overflow page belongs to.
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

  /// The approximate memory, in bytes.
  var byteCount: Int { chains.count * 96 + firstOfPage.count * 20 }
}

/// Finds a cycle in a chain of pages without storing them (Brent's algorithm), so that reading a damaged file ends.
struct CycleDetector {
  private var mark: UInt32 = 0
  private var length = 0
  private var power = 1

  /// - Returns: whether this page was visited before.
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
