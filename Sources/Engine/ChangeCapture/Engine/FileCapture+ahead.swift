// Reads former images before a checkpoint overwrites them.
// //
// A writer whose commit has filled the WAL waits for the disk and then copies the WAL into the database file, over the
// former images of that commit's pages. Checking that many frames takes a tick longer than that, but reading the former
// pages takes it less time.
extension FileCapture {
  /// Images are read ahead if the number of new frames is in this range. Fewer frames are checked before any disk
  /// answers; with more, the checkpoint is over long before.
  private static let frameCounts: ClosedRange<UInt32> = 32...16_384

  /// Reads the former images of pages that were written since the state seen last, for tables whose former records are
  /// wanted. The frames are not checked: reading the wrong page is useless but harmless.
  func readAhead(_ candidate: WALIndexHeader?) {
    guard let index, let header = candidate, case .wal(let before, _) = seen else { return }
    let isNewGeneration = header.salts != before.salts
    let first = isNewGeneration ? 0 : before.frameCount
    guard header.frameCount >= first, Self.frameCounts.contains(header.frameCount - first),
      header.version == WALIndexHeader.knownVersion, header.pageSize == pages.pageSize, index.backfilled() <= first
    else { return }
    let summaries = tables.values.filter(\.keepsFormerRecords).map(\.summary)
    if summaries.isEmpty { return }
    pages.readAhead(first + 1...header.frameCount, isNewGeneration: isNewGeneration) { page in
      summaries.contains { $0.nodes[page] != nil || $0.chains.owner(ofPage: page) != nil }
    }
  }
}
