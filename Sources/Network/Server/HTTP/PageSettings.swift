/// Which pages a server has, and which others may connect to it.
package struct PageSettings: Sendable {
  /// The directory of static files; nil for none.
  package var directory: String?
  /// The directory of the pages and JavaScript client files that come with the program, which every server serves; nil
  /// for none.
  package var clientDirectory: String?
  /// The Content-Security-Policy header of static files; empty for none.
  package var contentSecurityPolicy =
    "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
  /// Origins of other hosts whose pages may connect, such as "https://example.org".
  package var allowedOrigins: Set<String> = []
  /// Names under which the server is reached, in lower case and without ports; with a host other than loopback, none
  /// means any.
  package var allowedHosts: Set<String> = []

  package init() {}
}
