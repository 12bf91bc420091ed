import Ground
import Synchronization

/// The process's inotify instance, shared by all files that it follows: a user may have 128 instances by default.
///
/// Within an instance, a watch belongs to an inode, and adding it again returns the same number. So a watch may serve
/// several records, and ends with the last of them. A directory is watched once for all databases in it, and its events
/// are assigned by file name.
///
/// If the system refuses a watch, `WatchRecord.failure` says why, and the caller polls the file.
///
/// Any thread. One lock guards the state. Events are read under this lock too, so that after `drain` all earlier events
/// are known.
package final class FileNotifier: EventSource {
  package static let shared = FileNotifier()

  /// The inotify instance, which is readable while there are events; -1 if the system reports nothing.
  package let descriptor: Int32
  /// Why there is no instance; nil if there is one, or if the system has no inotify.
  private let failure: WatchFailure?
  private let system: WatchSystem
  private let state = Mutex(State())
  private let recordCount = Atomic<Int>(0)

  private struct State {
    /// The records of each watched file, by inotify's number.
    var files: [Int32: [WatchRecord]] = [:]
    /// The records of each watched directory, by inotify's number and by name of the file.
    var directories: [Int32: [String: [WatchRecord]]] = [:]
    var records: [WatchRecord] = []
    /// Records with events that were not passed on yet. Empty between calls.
    var touched: [WatchRecord] = []
  }

  /// - Parameter system: the system calls, which tests replace.
  init(_ system: WatchSystem = .inotify) {
    self.system = system
    descriptor = system.create()
    failure = descriptor < 0 ? WatchFailure(errno, "fs.inotify.max_user_instances") : nil
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whether the process follows several files.
  package var isShared: Bool { fileCount > 1 }

  /// The number of records.
  var fileCount: Int { recordCount.load(ordering: .relaxed) }

  // MARK: - Records

  func add(_ record: WatchRecord) {
    recordCount.add(1, ordering: .relaxed)
    state.withLock { state in
      if let failure { record.failure = failure }
      record.index = state.records.count
      state.records.append(record)
      watch(record, &state)
    }
  }

  func remove(_ record: WatchRecord) {
    recordCount.subtract(1, ordering: .relaxed)
    state.withLock { state in
      let last = state.records.removeLast()
      if last !== record {
        state.records[record.index] = last
        last.index = record.index
      }
      for index in record.watches.indices { endWatch(index, of: record, &state) }
      endDirectoryWatch(of: record, &state)
    }
  }

  /// Calls `body` with exclusive access to all records.
  func withLock<Result: Sendable>(_ body: () -> Result) -> Result { state.withLock { _ in body() } }

  /// Reports writes to all files of a record, until `disarm` was called as many times.
  func arm(_ record: WatchRecord) {
    state.withLock { state in
      record.armed += 1
      if record.armed == 1 { watch(record, &state) }
    }
  }

  /// Watches the files and the directory that now have the record's names. Renamed parent directories are not noticed.
  func renew(_ record: WatchRecord) {
    state.withLock { state in
      if descriptor < 0 { return }
      watchDirectory(of: record, &state)
      watch(record, &state)
    }
  }

  func disarm(_ record: WatchRecord) {
    state.withLock { state in
      record.armed -= 1
      if record.armed > 0 { return }
      // Pending events are read before the watches are removed, because they could not be assigned afterwards.
      readEvents(&state)
      for index in record.watches.indices where index != WatchRecord.database { endWatch(index, of: record, &state) }
    }
  }

  // MARK: - Watches

  /// Watches the files of a record. Watching a watched file again changes nothing. A missing file is not an error.
  private func watch(_ record: WatchRecord, _ state: inout State) {
    if descriptor < 0 { return }
    if record.directoryWatch < 0 { watchDirectory(of: record, &state) }
    for index in record.paths.indices where record.armed > 0 || index == WatchRecord.database {
      let watch = system.add(descriptor, record.paths[index], WatchSystem.writes)
      if watch < 0 {
        note(errno, record)
      } else if watch != record.watches[index] {
        endWatch(index, of: record, &state)
        record.watches[index] = watch
        state.files[watch, default: []].append(record)
      }
    }
  }

  private func watchDirectory(of record: WatchRecord, _ state: inout State) {
    let watch = system.add(descriptor, record.directory, WatchSystem.names)
    guard watch >= 0 else { return note(errno, record) }
    if watch == record.directoryWatch { return }
    endDirectoryWatch(of: record, &state)
    record.directoryWatch = watch
    for name in record.names { state.directories[watch, default: [:]][name, default: []].append(record) }
  }

  private func note(_ error: Int32, _ record: WatchRecord) {
    if error == ENOSPC { record.failure = WatchFailure(error, "fs.inotify.max_user_watches") }
  }

  private func endWatch(_ index: Int, of record: WatchRecord, _ state: inout State) {
    let watch = record.watches[index]
    record.watches[index] = -1
    guard watch >= 0, var records = state.files.removeValue(forKey: watch) else { return }
    if let place = records.firstIndex(where: { $0 === record }) { records.remove(at: place) }
    if records.isEmpty { system.remove(descriptor, watch) } else { state.files[watch] = records }
  }

  private func endDirectoryWatch(of record: WatchRecord, _ state: inout State) {
    let watch = record.directoryWatch
    record.directoryWatch = -1
    guard watch >= 0, var names = state.directories.removeValue(forKey: watch) else { return }
    for name in record.names {
      names[name]?.removeAll { $0 === record }
      if names[name]?.isEmpty == true { names[name] = nil }
    }
    if names.isEmpty { system.remove(descriptor, watch) } else { state.directories[watch] = names }
  }

  // MARK: - Events

  /// Reads the pending events, and wakes the files' listeners.
  package func drain() {
    if descriptor < 0 { return }
    state.withLock { readEvents(&$0) }
  }

  private func readEvents(_ state: inout State) {
    system.read(descriptor) { event in take(event, &state) }
    if state.touched.isEmpty { return }
    for record in state.touched {
      // A new file may have been written to before its watch began.
      if record.events.contains(.replaced) {
        watch(record, &state)
        record.events.insert(.written)
      }
      for listener in record.listeners { listener.add(record.events) }
      record.events = []
    }
    state.touched.removeAll(keepingCapacity: true)
  }

  private func take(_ event: WatchEvent, _ state: inout State) {
    if event.isOverflow {
      // Events of any record may be lost.
      for record in state.records { note([.written, .replaced, .contents], of: record, &state) }
    } else if event.isEnd || event.isMove {
      if event.isMove, state.directories[event.watch] != nil { system.remove(descriptor, event.watch) }
      noteEnd(of: event.watch, &state)
    } else if let records = state.files[event.watch] {
      for record in records {
        let isDatabase = record.watches[WatchRecord.database] == event.watch
        note(isDatabase ? [.written, .contents] : .written, of: record, &state)
      }
    } else if let names = state.directories[event.watch], let name = event.name, let records = names[name] {
      for record in records { note(.replaced, of: record, &state) }
    }
  }

  private func note(_ events: FileEvents, of record: WatchRecord, _ state: inout State) {
    if record.events.isEmpty { state.touched.append(record) }
    record.events.formUnion(events)
    if events.contains(.contents) { record.writes += 1 }
  }

  /// Called when a watched file or directory was removed or renamed.
  private func noteEnd(of watch: Int32, _ state: inout State) {
    for record in state.files.removeValue(forKey: watch) ?? [] {
      for index in record.watches.indices where record.watches[index] == watch { record.watches[index] = -1 }
    }
    for record in (state.directories.removeValue(forKey: watch) ?? [:]).values.joined()
    where record.directoryWatch == watch {
      record.directoryWatch = -1
      note(.replaced, of: record, &state)
    }
  }
}

/// Why writes to a file are not reported.
package struct WatchFailure: Error, Equatable, CustomStringConvertible {
  /// The name of the sysctl whose limit must be raised.
  package let sysctl: String
  private let code: Int32

  init(_ code: Int32, _ sysctl: String) {
    self.code = code
    self.sysctl = sysctl
  }

  package var description: String { "\(String(cString: strerror(code))): raise \(sysctl)" }
}

/// The watches and pending events of a database's files.
///
/// Owner: the notifier, whose lock guards it.
/// @unchecked: the notifier's lock guards all mutable state.
final class WatchRecord: @unchecked Sendable {
  let directory: String
  let paths: [String]
  /// Names of `paths` in their directory.
  let names: [String]
  /// The index of the database file in `paths`.
  static let database = 1

  /// inotify's number for each path; -1 if the path is not watched.
  @exclusivity(unchecked) var watches: [Int32]
  @exclusivity(unchecked) var directoryWatch: Int32 = -1
  /// The index of this record in the notifier's array.
  @exclusivity(unchecked) var index = 0
  /// The number of followers that want writes to be reported.
  @exclusivity(unchecked) var armed = 0
  @exclusivity(unchecked) var listeners: [FileListener] = []
  /// Events that were not passed on yet.
  @exclusivity(unchecked) var events: FileEvents = []
  /// The number of reported writes to the database file itself.
  @exclusivity(unchecked) var writes = 0
  /// Set when a watch was refused, and never reset, because events may have been missed.
  @exclusivity(unchecked) var failure: WatchFailure? { didSet { hasFailed.store(true, ordering: .releasing) } }
  /// Whether `failure` is set. Any thread.
  let hasFailed = Atomic<Bool>(false)

  init(path: String) {
    paths = [path + "-wal", path, path + "-journal", path + "-shm"]
    names = paths.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
    let slash = path.lastIndex(of: "/")
    directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    watches = paths.map { _ in -1 }
  }
}
