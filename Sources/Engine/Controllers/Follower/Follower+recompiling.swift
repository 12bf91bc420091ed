import ChangeCapture
import LiveQuery
import QueryCompiler
import Store
import Wire

// Changes of the schema. Lists whose own tables stay as they were go on. The others are compiled anew by readers, once for each
// shape, and then run again; until then they show what they have.
extension Follower {
  /// - Parameter before: the number of the state that was seen before.
  func schemaChanged(to schema: DatabaseSchema, isSameFile: Bool, _ before: CommitNumber) {
    let former = database?.schema ?? .empty
    database?.schema = schema
    roles = RoleSchemas(configuration.access, schema)
    let hasSameViews = isSameFile && former.viewDefinitions == schema.viewDefinitions
    let added = schema.tables.map(\.name).filter { former.table($0) == nil }
    for shape in shapes.values {
      if hasSameViews, shape.compiled.readsSame(in: schema), !shape.compiled.mayName(added) { continue }
      outdate(shape, before)
    }
    // Changes of those cannot be told by what was known of them.
    for (number, storage) in storages {
      let now = schema.table(storage.table.name)?.storage
      if now?.table.definition != storage.table.definition { storages[number] = nil }
    }
    forgetUnusedTables()
    for query in queries.values where query.shape.isOutdated && mayRun(query) { recompile(query.shape) }
  }

  /// The shape's queries stay as they are until they have another.
  ///
  /// - Parameter before: the number of the state that they show.
  func outdate(_ shape: QueryShape, _ before: CommitNumber) {
    shape.isOutdated = true
    shapesOfEveryCommit[ObjectIdentifier(shape)] = nil
    if let query = shape.queries.values.first?.query { shapes[query.withoutValues] = nil }
    for query in shape.queries.values {
      cancelRun(of: query)
      query.phase = .stale(shown: query.shown(unlessFollowedFrom: before), due: .distantFuture)
      askAgain(query)
    }
  }

  /// Who waits for contents that are being read waits for a run instead: a reader may not be able to read them any more.
  func askAgain(_ query: FetchedResultsController) {
    let reads = query.reads.filter { $0.contents == nil }
    query.reads.removeAll { $0.contents == nil }
    for read in reads {
      readers.cancel(read.id)
      queriesByRead[read.id] = nil
      query.blocked += read.requests.map { (.snapshot($0), commit) }
      for subscription in read.subscriptions {
        if case .askAgain = subscription.state.readEnded(read, hasMoved: true) { answerNext(subscription) }
      }
    }
  }

  /// Has a reader compile an outdated shape's queries, unless one does so already.
  func recompile(_ shape: QueryShape) {
    guard shape.recompilation == nil, let first = shape.queries.values.first else { return }
    let query = first.query
    let job = post(first.requester, { .recompiled($0) }) { database, _ throws(FreshetError) in
      try database.recompile(query)
    }
    shape.recompilation = job
    recompilations[job] = shape
  }

  /// Takes up what readers have compiled: as much as there is time for, because its statements are prepared here.
  func takeUpRecompiled() {
    if recompiled.isEmpty { return }
    let end = clock.now + Self.commandTime
    var done = 0
    repeat {
      takeUp(recompiled[done].outdated, recompiled[done].result)
      done += 1
    } while done < recompiled.count && clock.now < end
    recompiled.removeFirst(done)
    if !recompiled.isEmpty { mustTick = true }
  }

  private func takeUp(_ outdated: QueryShape, _ result: Result<Recompilation, FreshetError>) {
    outdated.recompilation = nil
    let queries = Array(outdated.queries.values)
    guard let first = queries.first else { return }
    do throws(FreshetError) {
      let result = try result.get()
      // There may be yet another schema.
      guard let place, result.place.hasSameSchema(as: place) else { return recompile(outdated) }
      let shape = try shape(of: first.query, try result.compiled.get())
      for query in queries { adopt(shape, query) }
      forget(outdated, first.query.withoutValues)
    } catch  where !error.isFinal {
      for query in queries { fail(query, error, query.shown) }
    } catch  where error.code == .schemaChanged {
      for query in queries { end(query, error) }
    } catch {
      for query in queries { awaitSchema(query, error) }
    }
  }

  private func adopt(_ shape: QueryShape, _ query: FetchedResultsController) {
    let hasSameColumns = query.adopt(shape, settings(of: query.query)) && !query.awaitsSchema
    query.awaitsSchema = false
    query.phase = .stale(shown: query.shown, due: .distantPast)
    if !hasSameColumns { for subscription in query.subscriptions.values { startOver(subscription) } }
    run(query)
  }

  /// There is no such query in the new schema: its lists stay what they are until it compiles again, as after the last of
  /// several steps of a migration.
  private func awaitSchema(_ query: FetchedResultsController, _ error: FreshetError) {
    let changed = FreshetError(.schemaChanged, "the schema has changed: \(error.message)")
    for waiter in query.waiters { waiter.request.reply(.failure(changed)) }
    query.waiters = []
    rejectBlocked(query, error)
    if !query.awaitsSchema {
      query.awaitsSchema = true
      for subscription in query.subscriptions.values { output.send(.error(changed, isFatal: false), to: subscription) }
    }
    noteIdle(query)
  }
}
