import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Fetches over the network, by https only, redirects included.
package struct HTTPSKeyFetcher: KeyFetcher {
  /// Longer answers are given up: a set of 100 keys has 60 kB.
  static let sizeLimit = 256 << 10

  package init() {}

  package func fetch(_ address: String, reply: @escaping @Sendable (Result<[UInt8], KeyFetchError>) -> Void) {
    guard let url = URL(string: address) else { return reply(.failure(KeyFetchError("it is no address"))) }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.timeoutIntervalForResource = Double(PublishedKeys.deadline.components.seconds)
    configuration.timeoutIntervalForRequest = configuration.timeoutIntervalForResource
    let session = URLSession(configuration: configuration, delegate: Fetch(reply), delegateQueue: nil)
    var request = URLRequest(url: url)
    request.setValue("application/json", forHTTPHeaderField: "Accept")
    session.dataTask(with: request).resume()
    // The requests that have begun are finished; then the session releases its delegate.
    session.finishTasksAndInvalidate()
  }

  /// One fetch. The session calls it on one queue, one call at a time.
  private final class Fetch: NSObject, URLSessionDataDelegate, Sendable {
    private struct State {
      var body: [UInt8] = []
      var problem: String?
    }
    private let state = Mutex(State())
    private let reply: @Sendable (Result<[UInt8], KeyFetchError>) -> Void

    init(_ reply: @escaping @Sendable (Result<[UInt8], KeyFetchError>) -> Void) { self.reply = reply }

    private func giveUp(_ task: URLSessionTask, _ problem: String) {
      state.withLock { $0.problem = problem }
      task.cancel()
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      if request.url?.scheme?.lowercased() == "https" { return completionHandler(request) }
      completionHandler(nil)
      giveUp(task, "it redirects to an address that is not https")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      let isTooLong = state.withLock { state in
        state.body += data.prefix(HTTPSKeyFetcher.sizeLimit + 1 - state.body.count)
        return state.body.count > HTTPSKeyFetcher.sizeLimit
      }
      if isTooLong { giveUp(dataTask, "the answer is longer than \(HTTPSKeyFetcher.sizeLimit) bytes") }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      let (body, problem) = state.withLock { ($0.body, $0.problem) }
      if let problem { return reply(.failure(KeyFetchError(problem))) }
      if (error as? URLError)?.code == .timedOut { return reply(.failure(.late)) }
      if let error { return reply(.failure(KeyFetchError(error.localizedDescription))) }
      let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
      reply(status == 200 ? .success(body) : .failure(KeyFetchError("the answer has the status \(status)")))
    }
  }
}
