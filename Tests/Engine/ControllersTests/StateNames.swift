@testable import ChangeCapture

extension StateName {
  /// A state of a WAL, without a file.
  static func wal(frames: Int, generation: UInt32 = 1) -> StateName {
    var words = [UInt32](repeating: 0, count: 12)
    words[0] = WALIndexHeader.knownVersion
    words[4] = UInt32(frames)
    words[8] = generation
    return words.withUnsafeBytes { bytes in
      StateName(state: .wal(WALIndexHeader(bytes.baseAddress!), isBackfilled: false))
    }
  }
}
