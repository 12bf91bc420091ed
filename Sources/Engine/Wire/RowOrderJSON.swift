package import LiveQuery

// The order of a list's rows in messages: protocol 3.2, `order` and `sectionOrder`.

extension JSONWriter {
  mutating func members(of order: RowOrder) {
    name("order")
    array { for term in order.terms { $0.object { $0.members(of: term) } } }
    guard let section = order.section else { return }
    name("sectionOrder")
    object {
      $0.members(of: section)
      $0.member("sorted", order.sortsSections)
    }
  }

  private mutating func members(of term: RowOrder.Term) {
    let isWhole = term.calls.isEmpty
    name("column")
    if isWhole, let column = term.column { string(column) } else { null() }
    member("collation", term.collation.rawValue)
    member("descending", term.isDescending)
    member("nulls", term.areNullsFirst ? "first" as StaticString : "last")
    if term.column == nil && term.source == nil || isWhole && term.column != nil { return }
    name("of")
    object { of in
      if let column = term.column { of.member("column", column) }
      if let source = term.source { of.member("source", source) }
      if !isWhole {
        of.name("calls")
        of.array { calls in for call in term.calls { calls.call(call) } }
      }
    }
  }

  private mutating func call(_ call: RowOrder.Call) {
    array {
      switch call {
      case .upper: $0.string("upper")
      case .lower: $0.string("lower")
      case .substr(let start, let length):
        $0.string("substr")
        $0.integer(start)
        if let length { $0.integer(length) }
      }
    }
  }
}

extension RowOrder {
  /// Reads the members `order` and `sectionOrder` of a message; nil if it has neither. A term that cannot be read
  /// counts as unknown.
  package init?(members json: JSONValue) {
    guard case .array(let terms)? = json["order"] else { return nil }
    self.init()
    self.terms = terms.map(Term.init)
    guard let section = json["sectionOrder"], section != .null else { return }
    self.section = Term(section)
    sortsSections = section["sorted"] == .bool(true)
  }
}

extension RowOrder.Term {
  fileprivate init(_ json: JSONValue) {
    self.init()
    guard case .string(let name)? = json["collation"], let collation = Collation(rawValue: name) else { return }
    self.collation = collation
    isDescending = json["descending"] == .bool(true)
    areNullsFirst = json["nulls"] == .string("first")
    var calls: [RowOrder.Call] = []
    if case .array(let list)? = json["of"]?["calls"] {
      for element in list {
        guard let call = RowOrder.Call(element) else { return }
        calls.append(call)
      }
    }
    self.calls = calls
    if case .string(let name)? = json["column"] ?? .null { column = name }
    if column == nil, case .string(let name)? = json["of"]?["column"] { column = name }
    if case .string(let name)? = json["of"]?["source"] { source = name }
  }
}

extension RowOrder.Call {
  fileprivate init?(_ json: JSONValue) {
    guard case .array(let parts) = json, case .string(let name)? = parts.first else { return nil }
    let numbers = parts.dropFirst().compactMap { if case .integer(let number) = $0 { Int(number) } else { nil } }
    switch (name, numbers.count, parts.count) {
    case ("upper", 0, 1): self = .upper
    case ("lower", 0, 1): self = .lower
    case ("substr", 1, 2) where numbers[0] > 0: self = .substr(start: numbers[0], length: nil)
    case ("substr", 2, 3) where numbers[0] > 0 && numbers[1] >= 0: self = .substr(start: numbers[0], length: numbers[1])
    default: return nil
    }
  }
}
