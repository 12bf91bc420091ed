internal import CGateway

/// An HTTP request, or the one of a WebSocket handshake. Headers that were absent are nil.
package struct HTTPRequest: Hashable, Sendable {
  package var method: String
  /// The path, percent-decoded, without the query.
  package var path: String
  /// The part after "?", percent-encoded; empty when absent.
  package var query: String
  package var origin: String?
  package var host: String?
  package var authorization: String?
  package var ifNoneMatch: String?
  package var contentType: String?
  package var accept: String?
  package var acceptEncoding: String?
  package var lastEventID: String?
  /// Sec-WebSocket-Protocol.
  package var protocols: String?
  /// Sec-Fetch-Site.
  package var fetchSite: String?
  /// The client's address as text.
  package var peer: String
  /// The client that this counts as.
  package var client: ClientAddress
  package var body: [UInt8]
}

extension HTTPRequest {
  /// Copies data that is valid during a callback only.
  init(_ request: gateway_request) {
    method = String(request.method)
    path = String(request.path)
    query = String(request.query)
    origin = String(presentIn: request.origin)
    host = String(presentIn: request.host)
    authorization = String(presentIn: request.authorization)
    ifNoneMatch = String(presentIn: request.if_none_match)
    contentType = String(presentIn: request.content_type)
    accept = String(presentIn: request.accept)
    acceptEncoding = String(presentIn: request.accept_encoding)
    lastEventID = String(presentIn: request.last_event_id)
    protocols = String(presentIn: request.protocols)
    fetchSite = String(presentIn: request.fetch_site)
    let address = IPAddress(request.client)
    peer = address.text
    client = ClientAddress(address)
    body = Array(UnsafeBufferPointer(start: request.body.bytes, count: request.body.length))
  }
}

extension RequestLine {
  init(_ request: gateway_request) {
    self.init(method: String(request.method), path: String(request.path), peer: IPAddress(request.client).text)
  }

  package init(_ request: HTTPRequest) { self.init(method: request.method, path: request.path, peer: request.peer) }
}

extension String {
  /// Bytes that are no UTF-8 become U+FFFD.
  init(_ span: gateway_span) {
    self.init(decoding: UnsafeBufferPointer(start: span.bytes, count: span.length), as: UTF8.self)
  }

  fileprivate init?(presentIn span: gateway_span) {
    guard span.length > 0 else { return nil }
    self.init(span)
  }
}
