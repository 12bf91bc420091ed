import Gateway
import Logging
import Synchronization

/// Decides whether requests are admitted: by the origin of their page, and never while the server stops.
///
/// Any thread.
final class FrontDoor: Sendable {
  private let policy: OriginPolicy
  private let refusals: OriginRefusals
  private let open = Atomic<Bool>(true)

  init(_ policy: OriginPolicy, logger: Logger) {
    self.policy = policy
    refusals = OriginRefusals(logger: logger)
  }

  var isOpen: Bool { open.load(ordering: .relaxed) }

  /// Refuses all requests from now on, because the server stops.
  func close() { open.store(false, ordering: .relaxed) }

  /// Origins of other hosts that are let in.
  var allowedOrigins: Set<String> { policy.allowed }

  func permits(_ request: HTTPRequest) -> Bool { policy.permits(request) }

  /// The reason to refuse a request; nil: it is admitted. A refusal is logged.
  func refusal(of request: HTTPRequest) -> OriginRefusal? {
    let refusal = policy.refusal(of: request)
    if let refusal { refusals.note(refusal) }
    return refusal
  }
}
