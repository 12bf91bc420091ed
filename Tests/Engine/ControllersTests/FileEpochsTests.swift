import Foundation
import Store
import Synchronization
import TestSupport
import Testing

@testable import Following

/// Epochs: all followers of a file agree on them, whenever they notice a replacement.
@Suite struct FileEpochsTests {
  private final class Renewals: Sendable {
    let names = Mutex<[String]>([])
  }

  private let renewals = Renewals()
  private func epochs(_ name: String? = nil) -> FileEpochs {
    FileEpochs(startingWith: name) { [renewals] name in renewals.names.withLock { $0.append(name) } }
  }
  private var renewed: [String] { renewals.names.withLock { $0 } }

  /// Makes two files.
  private func files() throws -> (FileIdentity, FileIdentity) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let paths = ["a", "b"].map { folder.appending(path: $0).path }
    for path in paths { #expect(FileManager.default.createFile(atPath: path, contents: nil)) }
    return (try #require(FileIdentity(path: paths[0])), try #require(FileIdentity(path: paths[1])))
  }

  @Test func `Who opens another file first begins an epoch, and the others join`() throws {
    let (one, two) = try files()
    let epochs = epochs("first")
    let first = epochs.opened(one)
    #expect(!first.isNew && first.epoch.name == "first" && epochs.opened(one) == (first.epoch, false))
    let second = epochs.opened(two)
    #expect(second.isNew && second.epoch != first.epoch && !epochs.isNewest(first.epoch))
    #expect(epochs.opened(two) == (second.epoch, false))
    #expect(renewed == [second.epoch.name] && epochs.greeting == second.epoch.name)
    // The first file comes back, and gets a new epoch.
    #expect(epochs.opened(one).isNew && epochs.current.name != "first")
    #expect(epochs.joined(by: one) == epochs.current && epochs.joined(by: two) == nil)
  }

  @Test func `Files that were lost are opened anew in another epoch, once`() throws {
    let (one, _) = try files()
    let epochs = epochs()
    let first = epochs.opened(one).epoch
    epochs.lost(first)
    #expect(epochs.joined(by: one) == nil)
    let second = epochs.opened(one)
    #expect(second.isNew)
    // Another follower closes late.
    epochs.lost(first)
    #expect(epochs.opened(one) == (second.epoch, false) && renewed.count == 1)
  }

  @Test func `A replica's epoch does not flap while its followers are at different states`() {
    let epochs = epochs()
    let read = { (name: String, epoch: FileEpochs.Epoch, ticket: UInt64) in
      epochs.read(name, hasFallen: false, in: epoch, ticket: ticket, isOfFile: true)
    }
    let start = epochs.current
    let early = epochs.ticket()
    let one = read("one", start, epochs.ticket())
    #expect(one.isNew && epochs.greeting == "one")
    #expect(read("one", start, early) == (one.epoch, false))
    let late = epochs.ticket()
    let two = read("two", one.epoch, epochs.ticket())
    #expect(two.isNew && epochs.greeting == "two")
    // A transaction that began earlier shows the former epoch, or one in between.
    let alone = read("between", one.epoch, late)
    #expect(!alone.isNew && alone.epoch.name == "between" && !epochs.isNewest(alone.epoch))
    #expect(epochs.greeting == "two" && read("two", alone.epoch, epochs.ticket()) == (two.epoch, false))
    #expect(read("three", two.epoch, epochs.ticket()).isNew && renewed == ["one", "two", "three"])
  }

  @Test func `A replica's file that has lost its name begins no epoch`() {
    let epochs = epochs()
    let one = epochs.read("one", hasFallen: false, in: epochs.current, ticket: epochs.ticket(), isOfFile: true).epoch
    let other = epochs.read("old", hasFallen: false, in: one, ticket: epochs.ticket(), isOfFile: false)
    #expect(!other.isNew && other.epoch.name == "old" && epochs.greeting == "one")
  }

  @Test func `Commits that fall are another epoch to clients, and the same to versions`() {
    let epochs = epochs("one")
    let fall = { (epoch: FileEpochs.Epoch) in
      epochs.read("one", hasFallen: true, in: epoch, ticket: epochs.ticket(), isOfFile: true)
    }
    let first = epochs.current
    let second = fall(first)
    #expect(second.isNew && second.epoch != first && second.epoch.name == "one" && epochs.greeting == "one.1")
    // Another follower sees that the commits have fallen in the same way.
    #expect(fall(first) == (second.epoch, false))
    #expect(fall(second.epoch).isNew && epochs.greeting == "one.2")
  }

  @Test func `A transaction from before commits fell does not see them fall once more`() {
    let epochs = epochs("one")
    let first = epochs.current
    let read = { (epoch: FileEpochs.Epoch, hasFallen: Bool, ticket: UInt64) in
      epochs.read("one", hasFallen: hasFallen, in: epoch, ticket: ticket, isOfFile: true)
    }
    let early = epochs.ticket()
    let second = read(first, true, epochs.ticket())
    #expect(second.isNew && epochs.greeting == "one.1")
    // Another follower's transaction still shows the commit before the fall; its next one does not.
    let alone = read(first, false, early)
    #expect(!alone.isNew && alone.epoch.name == "one" && !epochs.isNewest(alone.epoch))
    #expect(read(alone.epoch, true, epochs.ticket()) == (second.epoch, false))
    #expect(epochs.greeting == "one.1" && renewed == ["one.1"])
  }
}
