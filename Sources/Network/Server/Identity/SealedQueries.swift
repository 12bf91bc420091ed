import LiveQuery
import Wire

/// The only queries that the bearer of a token may follow: the claim `freshet`. The signer of the token chooses the
/// query; no role is needed.
struct SealedQueries: Sendable, Hashable {
  /// Queries as JSON, by the name that the bearer uses; "" for the single query of a token without names.
  private let queries: [String: JSONValue]

  private static let claim = "freshet"

  /// - Returns: nil for a token without this claim.
  /// - Throws: `unauthenticated` for a claim of another form.
  init?(_ claims: [String: JSONValue]) throws(FreshetError) {
    guard let claim = claims[Self.claim] else { return nil }
    guard case .object(let members) = claim, members.count == 1 else { throw Self.malformed }
    switch (members["query"], members["queries"]) {
    case (let query?, nil): queries = ["": query]
    case (nil, .object(let queries)?) where queries[""] == nil: self.queries = queries
    default: throw Self.malformed
    }
    for query in queries.values { do { _ = try QuerySource(json: query) } catch { throw Self.malformed } }
  }

  private static let malformed = FreshetError.unauthenticated(
    "the token's freshet must be {\"query\": …} or {\"queries\": {\"name\": …}}")

  /// The token's query with a name.
  ///
  /// - Parameter name: "" for the unnamed one.
  /// - Throws: `not_allowed`.
  func query(_ name: String) throws(FreshetError) -> QuerySource {
    guard let query = queries[name] else { throw notAllowed }
    return try QuerySource(json: query)
  }

  var notAllowed: FreshetError {
    let names = queries.keys.sorted().filter { !$0.isEmpty }
    return FreshetError(
      .notAllowed,
      "this token is for "
        + (names.isEmpty
          ? "one query, which is followed without saying any" : "the queries \(names.joined(separator: ", "))"))
  }
}
