/// Why a gateway could not be started: one sentence for the operator, such as
/// "port 8080 on 127.0.0.1 is already in use".
package struct GatewayError: Error, Hashable, CustomStringConvertible {
  package let message: String

  package var description: String { message }
}
