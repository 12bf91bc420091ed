import Gateway

extension HTTPRequest {
  /// Whether the body says that it is JSON. A page of another origin cannot have a browser say so without asking the
  /// server first (CORS), which keeps forms from posting.
  var hasJSONBody: Bool {
    let type = (contentType ?? "").prefix { $0 != ";" }
    return type.trimmingSuffix { $0 == " " || $0 == "\t" }.lowercased() == "application/json"
  }
}

extension Substring {
  fileprivate func trimmingSuffix(while isDropped: (Character) -> Bool) -> Substring {
    var result = self
    while let last = result.last, isDropped(last) { result.removeLast() }
    return result
  }
}
