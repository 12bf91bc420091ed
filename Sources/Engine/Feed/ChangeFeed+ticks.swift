import ChangeCapture
import Following
import Ground
import LiveQuery
import Logging
import Store
import Wire

// Turns commits into entries of the log.
extension ChangeFeed {
  func tick(_ tables: FeedTables) throws {
    let connection = tables.connection
    let mustRead =
      restored != nil || !openings.isEmpty || carried != nil || tables.mustLookUp || connection.capture.isReading
      || followed.isFailing
    try connection.tick(readsFramesAlone: !mustRead && connection.changedTables() != nil) {
      try take(from: connection, tables)
      open(tables)
      let end = clock.now + Self.readingTime
      while connection.capture.readOn() { if clock.now >= end { break } }
      tables.noteRead(upTo: log.last)
    }
    if connection.capture.isReading || connection.capture.hasEndedEarly || connection.hasLostState || carried != nil
      || !openings.isEmpty
    {
      mustTick = true
    }
  }

  /// Adds the changes of the commits since the last tick to the log.
  func take(from connection: DatabaseConnection, _ tables: FeedTables) throws {
    if restored != nil { connection.capture.keepAllRecords() }
    let tick = connection.capture.advance(throughCommits: true)
    let schema = try schema(after: tick, connection)
    if let restored { return try goOn(from: restored, tick, schema ?? .empty, tables) }
    var steps = steps(of: tick, tables)
    if let schema {
      let altered = tables.take(schema)
      if !tick.isFirst { for table in altered { steps[steps.count - 1].builder.noteAltered(table) } }
    }
    try append(steps, of: tick, connection)
  }

  /// The new schema after a tick; nil if it is unchanged.
  private func schema(after tick: CapturedTick, _ connection: DatabaseConnection) throws -> DatabaseSchema? {
    guard tick.hasSchemaChanged || restored != nil else { return nil }
    do {
      let schema = try connection.readSchema()
      connection.capture.define { schema.table($0)?.storage?.table }
      return schema
    } catch {
      loseHistory()
      throw error
    }
  }

  /// Makes the first tick after another process.
  func goOn(
    from restored: FeedJournal.Restored, _ tick: CapturedTick, _ schema: DatabaseSchema, _ tables: FeedTables
  ) throws {
    _ = tables.take(schema)
    tables.restore(restored.mark.known)
    var builder = CommitBuilder()
    for step in steps(of: tick, tables) { builder.merge(step.builder) }
    try builder.lookUp()
    let entries = restored.entries.compactMap { bytes in
      bytes.withUnsafeBytes { bytes in
        try? LoggedCommit(bytes) { name, version in
          let table = tables.table(named: name)
          return (table, table?.version == version)
        }
      }
    }
    epoch = restored.mark.epoch
    commit = max(restored.mark.commit, entries.last?.commit ?? 0)
    log = ChangeLog(limit: configuration.historyBytes, last: restored.mark.number)
    for (index, entry) in entries.enumerated() {
      if index == 0 { log = ChangeLog(limit: configuration.historyBytes, last: entry.number - 1) }
      guard entry.number == log.last + 1 else { continue }
      log.append(entry)
    }
    let told = ToldChanges(entries.filter { $0.number > restored.mark.number })
    let changes = try told.continued(by: builder.finish()) { try $0.lookUp(key: $1) }
    let before = commit
    _ = number(tables.connection, commits: tick.commits)
    if !changes.isEmpty {
      log.append(
        LoggedCommit(
          number: log.last + 1, commit: max(commit, before + 1),
          commits: max(1, tables.connection.position == nil ? tick.commits : commit - before), changes: changes))
    }
    newest = log.newest?.commit ?? newest
    commit = max(commit, newest)
    self.restored = nil
    configuration.journal?.noteKept(epoch, restored.mark.known)
    beginJournal()
  }

  /// The changes between two states that a tick went through.
  struct Step {
    var builder = CommitBuilder()
    let commits: Int64
  }

  func steps(of tick: CapturedTick, _ tables: FeedTables) -> [Step] {
    var steps: [Step] = []
    var passed: Int64 = 0
    for stop in tick.stops {
      steps.append(Step(commits: stop.commits - passed))
      passed = stop.commits
    }
    steps.append(Step(commits: tick.commits - passed))
    // Both are in commit order. They are walked through together, because there may be many.
    var step = 0
    for (index, entry) in tick.deltas.enumerated() {
      while step < tick.stops.count, tick.stops[step].deltas <= index { step += 1 }
      guard let table = tables.table(entry.table), table.knownSince != nil else { continue }
      steps[step].builder.add(entry.delta, of: table)
    }
    return steps
  }

  func append(_ steps: [Step], of tick: CapturedTick, _ connection: DatabaseConnection) throws {
    let known = log.last
    defer { keepEntries(after: known) }
    // The steps can be separate entries only if no row must be looked up, which is possible only in the newest state,
    // and if the file is not a replica's, whose file has only the number of its newest state.
    let areSeparate = carried == nil && connection.position == nil && !steps.contains { $0.builder.mustLookUp }
    if areSeparate {
      var left = tick.commits
      let last = number(after: tick, connection)
      for step in steps {
        left -= step.commits
        append(step.builder, commits: step.commits, last - left)
      }
      return
    }
    var builder = carried?.builder ?? CommitBuilder()
    for step in steps { builder.merge(step.builder) }
    let commits = (carried?.commits ?? 0) + tick.commits
    carried = nil
    let before = commit
    let number = number(after: tick, connection)
    if builder.mustLookUp {
      connection.transaction.need()
      if connection.hasLostState { return carried = (builder, commits) }
      try builder.lookUp()
    }
    append(builder, commits: connection.position == nil ? commits : max(1, number - before), number)
  }

  /// The number of the tick's state. The states before it are numbered by counting back from it, because other
  /// followers of the file need not know them.
  func number(after tick: CapturedTick, _ connection: DatabaseConnection) -> Int64 {
    tick.commits == 0 && !tick.isFirst && connection.position == nil
      ? commit : number(connection, commits: tick.commits)
  }

  /// The state's number. A replica's file has the number itself, and the server assigns none.
  private func number(_ connection: DatabaseConnection, commits: Int64) -> Int64 {
    commit =
      connection.position?.commit
      ?? file.numbers.number(of: connection.capture.numberedState, before: commit, commits: commits).commit
    return commit
  }

  func append(_ builder: CommitBuilder, commits: Int64, _ number: Int64) {
    if builder.isEmpty { return }
    let changes = builder.finish()
    if changes.isEmpty { return }
    // The numbers that others gave to these states may leave too few numbers in between, but numbers must increase with
    // positions.
    let number = max(number, newest + 1)
    commit = max(commit, number)
    newest = number
    var entry = LoggedCommit(number: log.last + 1, commit: number, commits: max(1, commits), changes: changes)
    // An entry that exceeds the memory for entries is kept without its rows.
    if entry.byteCount > configuration.historyBytes { entry = entry.withoutRows }
    log.append(entry)
    counts.commits += Int(entry.commits)
    if entry.commits > 1 { counts.joinedCommits += Int(entry.commits) }
  }
}
