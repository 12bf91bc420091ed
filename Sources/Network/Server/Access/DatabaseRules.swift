import LiveQuery

/// The configuration of databases: the setting `databases`, and the database that a token leads to.
package struct DatabaseRules: Sendable {
  /// The settings of the databases whose names fit a pattern.
  package struct Rule: Sendable {
    package let pattern: String
    package var access: AccessSettings
    package var limits: [LimitSetting: Int] = [:]

    package init(_ pattern: String, _ access: AccessSettings) {
      self.pattern = pattern
      self.access = access
    }
  }

  /// The first rule that fits a name counts. Databases without one have the server's own settings.
  package var rules: [Rule] = []
  /// The database of a token's bearer; nil: tokens do not choose databases.
  package var tenant: TenantTemplate?

  package init() {}

  /// The index in `rules` of the rule that counts for a database.
  func place(of name: DatabaseName) -> Int? {
    rules.firstIndex { name.fits($0.pattern) }
  }
}

/// Makes the name of a tenant's database from a token's claims: `tenants/{claims.org}`.
package struct TenantTemplate: Sendable, Equatable {
  private enum Part: Sendable, Equatable {
    case text(String)
    case claim(String)
  }

  private let parts: [Part]

  /// - Returns: nil if braces contain anything else than `claims.` and a name, or if no claim is named.
  package init?(_ text: String) {
    var parts: [Part] = []
    var rest = Substring(text)
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else { return nil }
      let inner = rest[rest.index(after: open)..<close]
      guard inner.hasPrefix("claims."), inner.count > 7 else { return nil }
      if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
      parts.append(.claim(String(inner.dropFirst(7))))
      rest = rest[rest.index(after: close)...]
    }
    if rest.contains("}") { return nil }
    if !rest.isEmpty { parts.append(.text(String(rest))) }
    guard parts.contains(where: { if case .claim = $0 { true } else { false } }) else { return nil }
    self.parts = parts
  }

  /// - Returns: nil without a database: a claim is missing, or its value may not be in a name.
  func name(for identity: Identity) -> DatabaseName? {
    var name = ""
    for part in parts {
      switch part {
      case .text(let text): name += text
      case .claim(let claim):
        guard let value = identity.claims[claim]?.namePart else { return nil }
        name += value
      }
    }
    return DatabaseName(name)
  }
}

extension SQLValue {
  /// A claim's value as a part of a name. It must not lead to another folder.
  fileprivate var namePart: String? {
    switch self {
    case .text(let text): text.isEmpty || text.utf8.contains(UInt8(ascii: "/")) ? nil : text
    case .integer(let number): String(number)
    default: nil
    }
  }
}
