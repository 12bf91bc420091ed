import Dispatch
import JWTKit

/// A key as it was read, before it is known which signatures it is to verify.
enum VerificationKey: Sendable {
  case secret(HMACKey)
  case rsa(Insecure.RSA.PublicKey)
  case p256(ES256PublicKey)
  case p384(ES384PublicKey)
  case p521(ES512PublicKey)
  case ed25519(EdDSA.PublicKey)

  /// What verifies signatures of an algorithm with this key; nil when the algorithm takes keys of another kind. That a key can
  /// never be used as one of another kind is what keeps an RSA key, which is public, from being taken for a secret.
  func verifier(for algorithm: SignatureAlgorithm) -> (any JWTAlgorithm)? {
    switch (self, algorithm) {
    case (.secret(let key), .hs256), (.secret(let key), .hs384), (.secret(let key), .hs512):
      Self.algorithm { await $0.add(hmac: key, digestAlgorithm: algorithm.digest) }
    case (.rsa(let key), .rs256), (.rsa(let key), .rs384), (.rsa(let key), .rs512):
      Self.algorithm { await $0.add(rsa: key, digestAlgorithm: algorithm.digest) }
    case (.rsa(let key), .ps256), (.rsa(let key), .ps384), (.rsa(let key), .ps512):
      Self.algorithm { await $0.add(pss: key, digestAlgorithm: algorithm.digest) }
    case (.p256(let key), .es256): Self.algorithm { await $0.add(ecdsa: key) }
    case (.p384(let key), .es384): Self.algorithm { await $0.add(ecdsa: key) }
    case (.p521(let key), .es512): Self.algorithm { await $0.add(ecdsa: key) }
    case (.ed25519(let key), .edDSA): Self.algorithm { await $0.add(eddsa: key) }
    default: nil
    }
  }

  /// Has JWTKit make an algorithm. It hands them out through an actor alone; the algorithm itself is a plain value, which verifies
  /// without suspending.
  private static func algorithm(
    _ add: @escaping @Sendable (JWTKeyCollection) async -> Void
  ) -> (any JWTAlgorithm)? {
    let result = Box()
    let isDone = DispatchSemaphore(value: 0)
    Task(executorPreference: KeyThread.shared) {
      let keys = JWTKeyCollection()
      await add(keys)
      result.algorithm = try? await keys.getKey()
      isDone.signal()
    }
    isDone.wait()
    return result.algorithm
  }

  // @unchecked: written before the semaphore is signalled, read after that.
  private final class Box: @unchecked Sendable {
    var algorithm: (any JWTAlgorithm)?
  }
}

/// Runs what JWTKit does asynchronously on a queue of its own: the waiting caller may hold a thread of Swift's pool.
private final class KeyThread: TaskExecutor {
  static let shared = KeyThread()
  private let queue = DispatchQueue(label: "freshet.keys")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
