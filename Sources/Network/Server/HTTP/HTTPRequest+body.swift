import Gateway

extension HTTPRequest {
  /// Whether Content-Type says that the body is JSON. Pages of other origins cannot send that type without a preflight
  /// (CORS), so their forms cannot post.
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
