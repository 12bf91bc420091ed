import Testing

@testable import Store

/// Text that is read from `/proc`.
@Suite struct SystemTextTests {
  @Test(
    arguments: [
      ("1: POSIX  ADVISORY  WRITE 123 08:01:77 1073741826 1073742335\n", 123),
      ("1: POSIX  ADVISORY  WRITE 123 08:01:77 1073741824 1073741824\n", 123),
      // A shared lock; a lock of another file; of bytes that SQLite does not use; of a process elsewhere; a waiting
      // one.
      ("1: POSIX  ADVISORY  READ 123 08:01:77 1073741826 1073742335\n", nil),
      ("1: POSIX  ADVISORY  WRITE 123 08:01:78 1073741826 1073742335\n", nil),
      ("1: POSIX  ADVISORY  WRITE 123 08:01:77 128 128\n", nil),
      ("1: POSIX  ADVISORY  WRITE 0 08:01:77 1073741826 1073742335\n", nil),
      ("1: -> POSIX  ADVISORY  WRITE 123 08:01:77 1073741826 1073742335\n", nil), ("", nil),
    ] as [(String, Int32?)])
  func `The program that holds an exclusive lock on the file`(line: String, process: Int32?) {
    #expect(FileLocks.holder(ofLine: line, inode: 77) == process)
  }

  @Test(
    arguments: [
      ("36 35 98:0 /mnt1 /data/app.db rw,noatime master:1 - ext3 /dev/root rw\n", "/data/app.db"),
      (#"36 35 98:0 /mnt1 /my\040data/a\134b.db rw - ext3 /dev/root rw"#, #"/my data/a\b.db"#), ("36 35", nil),
    ] as [(String, String?)])
  func `Mount points`(line: String, path: String?) { #expect(MountedFile.mountPoint(ofLine: line) == path) }

  @Test func `A file in a folder is not mounted by itself`() { #expect(!MountedFile.isMounted(#filePath)) }
}
