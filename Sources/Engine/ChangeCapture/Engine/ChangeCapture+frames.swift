// Ticks that read nothing but frames, and need no transaction.
//
// The chain of checksums proves frames, whoever writes meanwhile: when it leads from the state seen last to the header's checksum, they are
// all that was written between the two. Where the commits changed leaves of followed tables and nothing else that capture knows, they hold
// everything that a tick has to read. (Former images are read as well, which hashes prove.) A transaction is begun only when something
// else must be read, if the state is still the newest by then.
extension ChangeCapture {
  /// Frames that were read before `advance`.
  struct FramesRead {
    let from: WALIndexHeader
    let to: WALIndexHeader
    let step: WALFollower.Step
  }

  /// Identifies the newest state without a transaction, where `advance` can go to it by frames alone.
  ///
  /// - Returns: the numbers of the tables that have changed; nil: a transaction is needed.
  package func identifyFromFrames() -> [Int]? {
    framesRead = nil
    guard let index, case .wal(let before, _) = seen, let schemaCookie else { return nil }
    prepare()
    guard let header = candidate, header.version == WALIndexHeader.knownVersion, header.salts == before.salts,
      header.pageSize == pages.pageSize, header.frameCount > before.frameCount, !misled.isKnown(header)
    else { return nil }
    // None of the frames may be said to be in the database file: that would have to be checked.
    let copied = index.backfilled()
    guard index.header() == header, copied <= before.frameCount else { return nil }
    let follower = WALFollower(pageSize: pages.pageSize, reader: reader)
    guard let step = try? follower.step(from: before, to: header, pages.wal) else { return nil }
    framesRead = FramesRead(from: before, to: header, step: step)
    guard let changed = changedLeaves(schemaCookie) else { return nil }
    backfilled = copied
    current = .wal(header, isBackfilled: false)
    pages.readsFramesAlone = true
    return changed
  }

  /// A transaction is needed after all. (What was read of the frames is of use if it sees the same state.)
  package func returnToSeenState() {
    current = seen
    pages.readsFramesAlone = false
  }

  /// The tables of which leaves changed, and nothing else; nil: there is one of which other pages are needed.
  func changedLeaves(_ schemaCookie: UInt32) -> [Int]? {
    var changed: [UInt32] = []
    for frame in reader.frames {
      if frame.image < 0 { return nil }
      let image = UnsafeRawPointer(reader.images.start + frame.image)
      if frame.page == 1,
        image.bigEndian32(40) != schemaCookie || pages.pageSize - Int(image.byte(20)) != pages.usableSize
      {
        return nil
      }
      changed.append(frame.page)
    }
    var numbers: [Int] = []
    for table in tables.values {
      switch table.changedLeaves(changed, reader) {
      case .none: continue
      case .some(true): numbers.append(table.number)
      case .some(false): return nil
      }
    }
    return numbers
  }
}

extension FollowedTable {
  /// Whether frames hold all of the table's changed pages; nil: it has none.
  fileprivate func changedLeaves(_ changed: [UInt32], _ reader: FrameReader) -> Bool? {
    guard form == .rows || form == .pages else { return false }
    var hasChanged = false
    for (index, page) in changed.enumerated() {
      if summary.chains.owner(ofPage: page) != nil { return false }
      guard let node = summary.nodes[page] else { continue }
      hasChanged = true
      let type = (reader.images.start + reader.frames[index].image).load(as: UInt8.self)
      if node.kind != .leaf || !node.chains.isEmpty || (type != 0x0D && type != 0x0A) { return false }
    }
    return hasChanged ? true : nil
  }
}
