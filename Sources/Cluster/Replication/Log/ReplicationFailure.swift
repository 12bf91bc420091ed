/// Why something cannot be replicated, as one sentence.
package struct ReplicationFailure: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
