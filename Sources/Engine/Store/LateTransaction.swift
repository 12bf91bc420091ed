/// The read transaction of a tick that may do without one: it begins when something is read.
///
/// Owner: the connection's thread.
package final class LateTransaction {
  /// Set once, by the connection's owner.
  package var begin: () -> Void = {}

  package init() {}
}
