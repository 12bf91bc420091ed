import LiveQuery

/// A query that a reader is running for the first time.
///
/// Owner: the follower's thread.
package final class Opening {
  let query: Query
  /// The query's number in `Lists` and in the table of requests.
  let id: Int
  /// The number of the reader's job.
  var job: UInt64 = 0
  /// The number of the state at which the job was posted. The result shows that state or a newer one.
  var asked: Int64 = 0
  /// The number of ticks that had seen changes when the job was posted.
  var ticks = 0

  init(_ query: Query, id: Int) {
    self.query = query
    self.id = id
  }
}
