import LiveQuery

extension CellText {
  /// `name=value`.
  static func named(_ name: String, _ values: [String: SQLValue]) -> String {
    "\(name)=\(text(values[name] ?? .null, limit: 200))"
  }

  /// ` name=value …`, in the order of the names.
  static func totals(_ totals: [String: SQLValue]) -> String {
    totals.keys.sorted().map { " \(named($0, totals))" }.joined()
  }
}
