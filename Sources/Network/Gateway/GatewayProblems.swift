internal import CGateway

/// The gateway's own error answers, as in RFC 9457.
private struct Problem {
  var status: Int
  var title: String
  var code: String
  var detail: String?
  var headers: [(name: String, value: String)] = []

  static func badMessage(
    _ detail: String, status: Int = 400, _ title: String = "Bad Request",
    headers: [(name: String, value: String)] = []
  ) -> Problem {
    Problem(status: status, title: title, code: "bad_message", detail: detail, headers: headers)
  }

  static func refused(
    _ status: Int, _ title: String, _ code: String, headers: [(name: String, value: String)] = []
  ) -> Problem {
    Problem(status: status, title: title, code: code, detail: "the handshake was refused", headers: headers)
  }

  /// The texts are constants and need no escaping.
  var body: String {
    let detail = detail.map { ",\"detail\":\"\($0)\"" } ?? ""
    return "{\"type\":\"about:blank\",\"title\":\"\(title)\",\"status\":\(status),\"code\":\"\(code)\"\(detail)}"
  }
}

private let retryAfterASecond = [(name: "Retry-After", value: "1")]
private let upgrade = [(name: "Upgrade", value: "websocket")]

private func problem(_ fault: gateway_fault) -> Problem {
  switch fault {
  case GATEWAY_BAD_HOST: .badMessage("a request needs one Host, and a good one")
  case GATEWAY_BAD_LENGTH: .badMessage("bad Content-Length")
  case GATEWAY_BAD_CODING: .badMessage("Transfer-Encoding with Content-Length or HTTP/1.0")
  case GATEWAY_UNKNOWN_CODING: .badMessage("no transfer coding is known here", status: 501, "Not Implemented")
  case GATEWAY_NO_LENGTH: .badMessage("a body needs a Content-Length", status: 411, "Length Required")
  case GATEWAY_BAD_VERSION: .badMessage("HTTP/1.1 is spoken here", status: 505, "HTTP Version Not Supported")
  case GATEWAY_PIPELINED: .badMessage("a request with a body has to wait for the answer to the one before it")
  case GATEWAY_NO_TLS: .badMessage("this port speaks TLS: use https or wss")
  case GATEWAY_TOO_LARGE:
    Problem(
      status: 413, title: "Content Too Large", code: "too_large", detail: "the body is longer than this server takes")
  case GATEWAY_CROWDED:
    Problem(
      status: 429, title: "Too Many Requests", code: "limit_exceeded", detail: "this address has too many connections",
      headers: retryAfterASecond)
  case GATEWAY_HASTY:
    Problem(
      status: 429, title: "Too Many Requests", code: "limit_exceeded", detail: "this client sends too many requests")
  case GATEWAY_LATE:
    Problem(
      status: 408, title: "Request Timeout", code: "timeout", detail: "the request did not arrive in time")
  case GATEWAY_OVERLOADED:
    Problem(
      status: 503, title: "Service Unavailable", code: "overloaded",
      detail: "too much is on its way to clients: try again", headers: retryAfterASecond)
  case GATEWAY_STOPPING:
    Problem(
      status: 503, title: "Service Unavailable", code: "shutting_down", detail: "the server is stopping",
      headers: retryAfterASecond)
  case GATEWAY_NOT_FOUND, GATEWAY_SCRIPT_NOT_FOUND: Problem(status: 404, title: "Not Found", code: "not_found")
  case GATEWAY_NOT_FOR_FILES:
    Problem(
      status: 405, title: "Method Not Allowed", code: "not_allowed", headers: [(name: "Allow", value: "GET, HEAD")])
  case GATEWAY_NEEDS_UPGRADE:
    .badMessage(
      "this route speaks WebSocket", status: 426, "Upgrade Required",
      headers: upgrade + [(name: "Connection", value: "Upgrade")])
  case GATEWAY_OTHER_UPGRADE: .badMessage("no other upgrade than WebSocket is offered")
  case GATEWAY_BAD_WEBSOCKET_VERSION:
    .badMessage(
      "WebSocket version 13 is spoken here", status: 426, "Upgrade Required",
      headers: [(name: "Sec-WebSocket-Version", value: "13")] + upgrade)
  case GATEWAY_UPGRADE_WITH_BODY: .badMessage("a handshake has no body")
  case GATEWAY_NO_CONNECTION_UPGRADE: .badMessage("Connection must say Upgrade")
  case GATEWAY_BAD_KEY: .badMessage("Sec-WebSocket-Key is missing or malformed")
  case GATEWAY_BAD_PROTOCOL: .badMessage("Sec-WebSocket-Protocol must offer this server's protocol")
  case GATEWAY_REFUSED_UNAUTHENTICATED:
    .refused(
      401, "Unauthorized", "unauthenticated",
      headers: [(name: "WWW-Authenticate", value: "Bearer error=\"invalid_token\"")])
  case GATEWAY_REFUSED_FORBIDDEN: .refused(403, "Forbidden", "not_allowed")
  case GATEWAY_REFUSED_HASTY: .refused(429, "Too Many Requests", "limit_exceeded", headers: retryAfterASecond)
  case GATEWAY_REFUSED_OVERLOADED: .refused(503, "Service Unavailable", "overloaded", headers: retryAfterASecond)
  default: .refused(400, "Bad Request", "bad_message")
  }
}

extension gateway_fault {
  /// A handshake that is refused with a status.
  init(refusingWith status: Int) {
    switch status {
    case 401: self = GATEWAY_REFUSED_UNAUTHENTICATED
    case 403: self = GATEWAY_REFUSED_FORBIDDEN
    case 404: self = GATEWAY_NOT_FOUND
    case 429: self = GATEWAY_REFUSED_HASTY
    case 503: self = GATEWAY_REFUSED_OVERLOADED
    default: self = GATEWAY_REFUSED
    }
  }
}

/// Problems as C takes them, by fault; kept for good.
// Immutable, and so are the strings that it points to.
nonisolated(unsafe) let problems: UnsafePointer<gateway_problem> = {
  let count = Int(GATEWAY_FAULTS.rawValue)
  let table = UnsafeMutablePointer<gateway_problem>.allocate(capacity: count)
  for number in 0..<count {
    let fault = gateway_fault(rawValue: gateway_fault.RawValue(number))
    let problem = problem(fault)
    var (type, body) = ("application/problem+json", problem.body)
    if fault == GATEWAY_SCRIPT_NOT_FOUND {
      type = "text/javascript; charset=utf-8\r\nCache-Control: no-store"
      body =
        "throw new Error(\"404: there is nothing at this path; the JavaScript client is at /v1/client/freshet.min.js\");\n"
    }
    (table + number).initialize(
      to: gateway_problem(
        status: Int32(problem.status), code: constant(problem.code),
        headers: constant("Content-Type: \(type)\r\n" + headerLines(problem.headers)), body: constant(body)))
  }
  return UnsafePointer(table)
}()

private func constant(_ string: String) -> UnsafePointer<CChar> {
  let bytes = string.utf8CString
  let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
  _ = copy.initialize(from: bytes)
  return UnsafePointer(copy.baseAddress!)
}
