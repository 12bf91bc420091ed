// Former images that would be gone.
//
// A writer whose commit has filled the WAL copies the WAL into the database file at once, over the former images of
// that commit's pages. It waits for the disk before. Until a tick has checked so many frames, the copy is made; until
// it has read the former pages, it is not.
extension FileCapture {
  /// How many frames that is done for: fewer are read sooner than any disk answers, and with more the copy has been
  /// made long ago.
  private static let frameCounts: ClosedRange<UInt32> = 32...16_384

  /// Reads the former images of the pages that were written since the state seen last, where former records are wanted.
  /// The frames that name them are not checked: reading a wrong page is useless but harmless.
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
