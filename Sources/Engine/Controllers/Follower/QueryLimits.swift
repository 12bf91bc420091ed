import LiveQuery
import Store

/// What queries of one role may take, where that is less than what all may.
package struct QueryLimits: Sendable {
  package var time: Duration?
  package var rows: Int?
  package var bytes: Int?

  package init(time: Duration?, rows: Int?, bytes: Int?) {
    self.time = time
    self.rows = rows
    self.bytes = bytes
  }
}
