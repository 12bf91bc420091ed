/// Gets a JSON Web Key Set from an address.
package protocol KeyFetcher: Sendable {
  /// - Parameter reply: called once, on any thread, with the body of a good answer.
  func fetch(_ address: String, reply: @escaping @Sendable (Result<[UInt8], KeyFetchError>) -> Void)
}

/// Why keys could not be fetched, for the operator's log.
package struct KeyFetchError: Error {
  package let reason: String
  package init(_ reason: String) { self.reason = reason }

  static let late = KeyFetchError("there was no answer in \(PublishedKeys.deadline.components.seconds) seconds")
}
