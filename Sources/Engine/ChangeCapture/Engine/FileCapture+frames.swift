// Ticks that read only frames, and need no transaction. The chain of checksums proves frames even while other programs
// write: if it leads from the state seen last to the header's checksum, the frames contain everything that was written
// in between. If the commits changed only leaves of the followed tables, the frames have everything that a tick must
// read. (Former images are read as well; hashes prove them.) A transaction is begun only if something else must be
// read, and is useful if the state is still the newest then.
extension FileCapture {
  /// Frames that were read before `advance`.
  struct FramesRead {
    let from: WALIndexHeader
    let to: WALIndexHeader
    let step: WALFollower.Step
  }

  /// Reads the frames that lead from the state seen last to a newer one.
  ///
  /// - Parameter copied: the number of frames that are in the database file according to the WAL-index.
  /// - Returns: the numbers of the tables that have changed; nil if a transaction is needed.
  func readFramesAlone(to header: WALIndexHeader, copied: UInt32) -> [Int]? {
    guard case .wal(let before, _) = seen, let schemaCookie, header.version == WALIndexHeader.knownVersion,
      header.salts == before.salts, header.pageSize == pages.pageSize, header.frameCount > before.frameCount,
      !misled.isKnown(header),
      // If the WAL-index says that some of these frames are copied, a transaction has to check that they are.
      copied <= before.frameCount
    else { return nil }
    let follower = WALFollower(pageSize: pages.pageSize, reader: reader)
    guard let step = try? follower.step(from: before, to: header, pages.wal) else { return nil }
    framesRead = FramesRead(from: before, to: header, step: step)
    return changedLeaves(schemaCookie)
  }

  /// The tables whose leaves changed; nil if any table needs pages that are not in the frames.
  func changedLeaves(_ schemaCookie: UInt32) -> [Int]? {
    for frame in reader.frames {
      if frame.image < 0 { return nil }
      if frame.page != 1 { continue }
      let image = UnsafeRawPointer(reader.images.start + frame.image)
      if image.bigEndian32(40) != schemaCookie || pages.pageSize - Int(image.byte(20)) != pages.usableSize {
        return nil
      }
    }
    var numbers: [Int] = []
    for table in tables.values {
      switch table.changedLeaves(reader) {
      case .none: continue
      case .some(true): numbers.append(table.number)
      case .some(false): return nil
      }
    }
    return numbers
  }
}

extension FollowedTable {
  /// Whether the frames contain all of the table's changed pages; nil if it has no changed pages.
  fileprivate func changedLeaves(_ reader: FrameReader) -> Bool? {
    guard form == .rows || form == .pages else { return false }
    var hasChanged = false
    for frame in reader.frames {
      if summary.chains.owner(ofPage: frame.page) != nil { return false }
      guard let node = summary.nodes[frame.page] else { continue }
      hasChanged = true
      let type = (reader.images.start + frame.image).load(as: UInt8.self)
      if node.kind != .leaf || !node.chains.isEmpty || (type != 0x0D && type != 0x0A) { return false }
    }
    return hasChanged ? true : nil
  }
}
