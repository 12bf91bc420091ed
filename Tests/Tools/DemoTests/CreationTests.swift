import FileMaking
import Foundation
import TestSupport
import Testing

@testable import Demo

@Suite struct CreationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `A creation that is interrupted leaves nothing`() async throws {
    let path = folder.path("wells")
    let creation = Task {
      try DemoDatabase.create(at: path, rows: 50_000) { _ in withUnsafeCurrentTask { $0?.cancel() } }
    }
    await #expect(throws: CancellationError.self) { try await creation.value }
    #expect(try folder.names() == [])
  }

  @Test func `What the progress throws ends it`() throws {
    let path = folder.path("wells")
    #expect(throws: CocoaError.self) {
      try DemoDatabase.create(at: path, rows: 5_000) { _ in throw CocoaError(.userCancelled) }
    }
    #expect(try folder.names() == [])
  }

  @Test func `While it is made, nothing is where it will be`() throws {
    let path = folder.path("wells")
    var wasThere = false
    try DemoDatabase.create(at: path, rows: 4_000) { _ in
      wasThere = wasThere || FileManager.default.fileExists(atPath: path)
    }
    #expect(!wasThere)
    #expect(try folder.names() == ["wells"])
  }

  @Test func `What a killed process left is removed, what a living one makes is not`() throws {
    let path = folder.path("wells")
    // No process has the number 0x7FFFFFFE; this one's parent is alive.
    let abandoned = path + ".unfinished-2147483646"
    let alive = path + ".unfinished-\(getppid())"
    for file in [abandoned, abandoned + "-journal", alive] {
      #expect(FileManager.default.createFile(atPath: file, contents: Data("half".utf8)))
    }
    try DemoDatabase.create(at: path, rows: 10)
    #expect(try folder.names() == ["wells", URL(fileURLWithPath: alive).lastPathComponent])
  }

  @Test func `A file that is there is not replaced`() throws {
    let path = folder.path("wells")
    #expect(FileManager.default.createFile(atPath: path, contents: Data("mine".utf8)))
    #expect { try DemoDatabase.create(at: path, rows: 10) } throws: { ($0 as? FileMakingError)?.code == .exists }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    #expect(!DemoDatabase.isCurrent(at: path))
  }

  @Test(arguments: [
    (["FRESHET_CACHE": "/a", "XDG_CACHE_HOME": "/b"], "/a/wells-9.sqlite"),
    (["XDG_CACHE_HOME": "/b"], "/b/freshet/wells-9.sqlite"),
    (["FRESHET_CACHE": "", "XDG_CACHE_HOME": ""], NSHomeDirectory() + "/.cache/freshet/wells-9.sqlite"),
  ]) func `The cache is where the environment says`(environment: [String: String], path: String) {
    #expect(DemoDatabase.cachePath(rows: 9, environment: environment) == path)
  }
}
