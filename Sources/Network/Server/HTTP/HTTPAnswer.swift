import LiveQuery
import Wire

/// An HTTP answer, ready to be sent.
struct HTTPAnswer: Sendable {
  var status: Int
  var headers: [(name: String, value: String)]
  var body: [UInt8]
  /// The error's code; nil: no error.
  var code: ErrorCode?

  static func json(_ body: [UInt8], status: Int = 200, headers: [(name: String, value: String)] = []) -> HTTPAnswer {
    HTTPAnswer(status: status, headers: [("Content-Type", "application/json")] + headers, body: body)
  }

  /// An error as RFC 9457 has it, with the code that the socket uses.
  ///
  /// - Parameter status: nil for the one that goes with the code.
  static func problem(
    _ code: ErrorCode, _ message: String, status: Int? = nil, headers: [(name: String, value: String)] = []
  ) -> HTTPAnswer {
    let status = status ?? code.httpStatus
    var writer = JSONWriter()
    writer.object {
      $0.member("type", "about:blank")
      $0.member("title", HTTPAnswer.titles[status] ?? "Error")
      $0.member("status", status)
      $0.member("code", code.rawValue)
      $0.member("detail", message)
    }
    var headers = [("Content-Type", "application/problem+json")] + headers
    if status == 401 { headers.append(("WWW-Authenticate", "Bearer error=\"invalid_token\"")) }
    let mayRetry = status == 503 || status == 429
    if mayRetry, !headers.contains(where: { $0.0 == "Retry-After" }) { headers.append(("Retry-After", "1")) }
    return HTTPAnswer(status: status, headers: headers, body: writer.bytes, code: code)
  }

  /// The answer to a client that sends too many requests.
  static func hasty(_ seconds: Int) -> HTTPAnswer {
    problem(
      .limitExceeded, "this client sends too many requests: send fewer a second",
      headers: [("Retry-After", String(seconds))])
  }

  static func problem(_ error: FreshetError) -> HTTPAnswer { problem(error.code, error.message) }

  private static let titles = [
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    409: "Conflict", 413: "Content Too Large", 415: "Unsupported Media Type", 429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable", 504: "Gateway Timeout",
  ]
}

extension ErrorCode {
  var httpStatus: Int {
    switch self {
    case .unauthenticated: 401
    case .notAllowed, .readOnly: 403
    case .notFound, .noSuchDatabase: 404
    case .methodNotAllowed: 405
    case .constraint, .schemaChanged: 409
    case .tooLarge: 413
    case .limitExceeded: 429
    case .overloaded, .shuttingDown: 503
    case .timeout: 504
    case .internal: 500
    default: 400
    }
  }
}
