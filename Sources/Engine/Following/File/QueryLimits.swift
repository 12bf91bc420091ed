/// Limits of one role's queries, for limits that are lower than those of all queries.
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
