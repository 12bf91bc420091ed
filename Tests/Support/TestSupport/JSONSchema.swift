package import Wire

/// JSON Schema (2020-12) as far as the project's descriptions use it.
/// Stricter than the standard in one way: an object whose schema has `properties` may have no others, unless
/// `additionalProperties` says so. Tests look for members without a description.
package struct JSONSchema {
  /// The document that `$ref` points into.
  private let root: JSONValue

  package init(root: JSONValue) { self.root = root }

  /// The schema that a reference such as `#/components/schemas/Row` means.
  package func resolve(_ reference: String) throws -> JSONValue {
    try reference.split(separator: "/").dropFirst().reduce(root) { value, name in
      try value.required(String(name.replacing("~1", with: "/").replacing("~0", with: "~")))
    }
  }

  /// A value with its `$ref` followed, if it is one.
  package func resolved(_ value: JSONValue) throws -> JSONValue {
    guard case .string(let reference)? = value["$ref"] else { return value }
    return try resolved(try resolve(reference))
  }

  /// - Returns: the violations, each with its place; empty if the value is valid.
  package func faults(of value: JSONValue, _ schema: JSONValue, at place: String = "$") throws -> [String] {
    if case .bool(let isAllowed) = schema { return isAllowed ? [] : ["\(place) may not be there"] }
    let schema = try resolved(schema)
    var faults = try checkKind(value, schema, place)
    if !faults.isEmpty { return faults }
    for keyword in ["oneOf", "anyOf"] {
      let choices = try schema.list(keyword)
      if choices.isEmpty { continue }
      let matches = try choices.count { try self.faults(of: value, $0, at: place).isEmpty }
      if matches == 0 { faults.append("\(place) is none of \(keyword): \(value)") }
      if keyword == "oneOf", matches > 1 { faults.append("\(place) is \(matches) of oneOf") }
    }
    switch value {
    case .object(let members): faults += try check(members, schema, place)
    case .array(let elements): faults += try check(elements, schema, place)
    default: break
    }
    return faults
  }

  private func checkKind(_ value: JSONValue, _ schema: JSONValue, _ place: String) throws -> [String] {
    if let constant = schema["const"], constant != value { return ["\(place) is \(value), not \(constant)"] }
    if schema["enum"] != nil, try !schema.list("enum").contains(value) { return ["\(place) may not be \(value)"] }
    if let type = schema["type"] {
      let types = if case .array(let list) = type { try list.map { try $0.text() } } else { [try type.text()] }
      if !types.contains(where: value.isOfType) { return ["\(place) is \(value.kind), not \(types)"] }
    }
    switch (value, schema["minimum"], schema["pattern"]) {
    case (.integer(let number), .integer(let least)?, _) where number < least: return ["\(place) is below \(least)"]
    case (.string(let text), _, .string(let pattern)?) where try text.firstMatch(of: Regex(pattern)) == nil:
      return ["\(place) does not match \(pattern)"]
    default: return []
    }
  }

  private func check(_ members: [String: JSONValue], _ schema: JSONValue, _ place: String) throws -> [String] {
    let known = schema["properties"]?.members
    var faults: [String] = []
    for name in try schema.list("required").map({ try $0.text() }) where members[name] == nil {
      faults.append("\(place).\(name) is missing")
    }
    for (name, value) in members {
      if let schema = known?[name] {
        faults += try self.faults(of: value, schema, at: "\(place).\(name)")
      } else if let others = schema["additionalProperties"] {
        faults += try self.faults(of: value, others, at: "\(place).\(name)")
      } else if known != nil {
        faults.append("\(place).\(name) is described nowhere")
      }
    }
    return faults
  }

  private func check(_ elements: [JSONValue], _ schema: JSONValue, _ place: String) throws -> [String] {
    let first = try schema.list("prefixItems")
    var faults: [String] = []
    if case .integer(let least)? = schema["minItems"], elements.count < least {
      faults.append("\(place) has \(elements.count) of \(least) elements")
    }
    for (index, element) in elements.enumerated() {
      guard let schema = index < first.count ? first[index] : schema["items"] else { continue }
      faults += try self.faults(of: element, schema, at: "\(place)[\(index)]")
    }
    return faults
  }
}

extension JSONValue {
  fileprivate func isOfType(_ type: String) -> Bool {
    switch (self, type) {
    case (.null, "null"), (.bool, "boolean"), (.integer, "integer"), (.integer, "number"), (.real, "number"),
      (.string, "string"), (.array, "array"), (.object, "object"):
      true
    default: false
    }
  }
}
