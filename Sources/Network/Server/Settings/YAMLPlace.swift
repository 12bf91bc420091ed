import Following
import Foundation
import LiveQuery
import Wire
import Yams

/// A value in a YAML file, with its place there, for error messages.
struct YAMLPlace {
  let node: Node
  /// Such as `queries.failedBanks.query`; "" for the whole file.
  let path: String
  let file: String
  /// The folder that relative paths start from.
  let folder: String

  /// The line of everything in it, by paths such as `roles.clerk.tables.orders`.
  var lines: [String: Int] {
    var lines: [String: Int] = [:]
    func add(_ node: Node, _ path: String) {
      switch node {
      case .mapping(let mapping):
        for (key, value) in mapping {
          guard case .scalar(let name) = key else { continue }
          let place = path.isEmpty ? name.string : "\(path).\(name.string)"
          lines[place] = name.mark?.line
          add(value, place)
        }
      case .sequence(let sequence):
        for (index, value) in sequence.enumerated() {
          lines["\(path).\(index)"] = value.mark?.line
          add(value, "\(path).\(index)")
        }
      case .scalar, .alias: break
      }
    }
    add(node, path)
    return lines
  }

  /// The error for an unknown member: it suggests the nearest of `names`, or else lists them.
  ///
  /// - Parameter whole: the subject of that list, such as `a role has`; nil if there are too many names to list.
  func unknown(
    _ name: String, _ whole: String?, _ names: [String], sentence: String = "is unknown"
  ) -> ServerError {
    let all = whole.map { ": \($0) \(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")" } ?? ""
    return error(sentence + (Spelling.hint(for: name, of: names) ?? all))
  }

  /// An error at this place.
  func error(_ sentence: String) -> ServerError {
    let line = node.mark.map { ", line \($0.line)" } ?? ""
    return ServerError("\(file)\(line): \(path.isEmpty ? "the file" : path) \(sentence)")
  }

  private func place(_ name: String, _ node: Node) -> YAMLPlace {
    YAMLPlace(node: node, path: path.isEmpty ? name : "\(path).\(name)", file: file, folder: folder)
  }

  /// Its members, in the order of the file.
  func members() throws(ServerError) -> [(name: String, value: YAMLPlace)] {
    guard case .mapping(let mapping) = node else { throw error("must be a mapping (name: value)") }
    var members: [(String, YAMLPlace)] = []
    for (key, value) in mapping {
      guard case .scalar(let name) = key else { throw error("must have names that are text") }
      members.append((name.string, place(name.string, value)))
    }
    return members
  }

  var isNull: Bool { (try? scalar())?.isNull ?? false }

  func scalar() throws(ServerError) -> Node.Scalar {
    guard case .scalar(let scalar) = node else { throw error("must be a single value") }
    return scalar
  }

  func text() throws(ServerError) -> String {
    let scalar = try scalar()
    if scalar.isNull { throw error("is empty") }
    return scalar.string
  }

  func filePath() throws(ServerError) -> String {
    let text = try text()
    return text.hasPrefix("/") ? text : URL(fileURLWithPath: folder).appendingPathComponent(text).path
  }

  func boolean() throws(ServerError) -> Bool {
    guard case .bool(let value)? = JSONValue(node) else { throw error("must be true or false") }
    return value
  }

  func selfCheckMode() throws(ServerError) -> SelfCheckMode {
    guard let mode = SelfCheckMode(rawValue: try text()) else { throw error("must be off, idle or always") }
    return mode
  }

  func count(_ range: ClosedRange<Int>) throws(ServerError) -> Int {
    guard let number = Int(try text()), range.contains(number) else {
      throw error("must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func limit(_ limit: LimitSetting) throws(ServerError) -> Int {
    guard let value = limit.parse(try text()) else { throw error("must be \(limit.expectation)") }
    return value
  }

  func bytes() throws(ServerError) -> Int {
    guard let bytes = ByteCount.parse(try text()) else { throw error("must be an amount of memory, such as 256 MiB") }
    return bytes
  }

  private func elements() throws(ServerError) -> [YAMLPlace] {
    guard case .sequence(let sequence) = node else { throw error("must be a list") }
    return sequence.enumerated().map { place("\($0)", $1) }
  }

  /// - Parameter mistake: the error in one of them.
  func texts(checkedBy mistake: (String) -> String? = { _ in nil }) throws(ServerError) -> [String] {
    var texts: [String] = []
    for element in try elements() {
      let text = try element.text()
      if let mistake = mistake(text) { throw element.error("is \(text), which \(mistake)") }
      texts.append(text)
    }
    return texts
  }

  func filePaths() throws(ServerError) -> [String] {
    var paths: [String] = []
    for element in try elements() { paths.append(try element.filePath()) }
    return paths
  }

  /// One path, or a list of them.
  func filePathOrPaths() throws(ServerError) -> [String] {
    if case .sequence = node { return try filePaths() }
    return [try filePath()]
  }

  /// One text, or a list of them.
  func textOrTexts() throws(ServerError) -> [String] {
    if case .sequence = node { return try texts() }
    return [try text()]
  }

  /// - Throws: for values that JSON does not have.
  func json() throws(ServerError) -> JSONValue {
    guard let value = JSONValue(node) else { throw error("holds something that JSON has no word for") }
    return value
  }
}

extension Node.Scalar {
  /// Neither quoted nor a block.
  var isPlain: Bool { style == .plain || style == .any }

  var isNull: Bool { isPlain && ["", "~", "null", "Null", "NULL"].contains(string) }
}

extension JSONValue {
  /// The value of YAML 1.2's core schema: `no` and `off` are texts. Nil when there is an alias in it.
  fileprivate init?(_ node: Node) {
    switch node {
    case .alias: return nil
    case .sequence(let sequence):
      var list: [JSONValue] = []
      for element in sequence {
        guard let value = JSONValue(element) else { return nil }
        list.append(value)
      }
      self = .array(list)
    case .mapping(let mapping):
      var members: [String: JSONValue] = [:]
      for (key, node) in mapping {
        guard case .scalar(let name) = key, let value = JSONValue(node) else { return nil }
        members[name.string] = value
      }
      self = .object(members)
    case .scalar(let scalar): self.init(scalar)
    }
  }

  private init(_ scalar: Node.Scalar) {
    let text = scalar.string
    guard scalar.isPlain else {
      self = .string(text)
      return
    }
    switch text {
    case _ where scalar.isNull: self = .null
    case "true", "True", "TRUE": self = .bool(true)
    case "false", "False", "FALSE": self = .bool(false)
    default:
      let number = try? JSONParser.parse(text)
      switch number {
      case .integer, .real: self = number ?? .null
      default: self = .string(text)
      }
    }
  }
}
