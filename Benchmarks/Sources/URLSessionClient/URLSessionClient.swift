import BenchmarkLoad
import Foundation
import FoundationNetworking

/// URLSession as an expert drives it: one session, as many connections as callers, no cache to look into.
@main
struct URLSessionClient {
    static func main() async throws {
        let load = try Load()
        guard let url = URL(string: "http://\(load.host):\(load.port)\(load.path)") else { throw URLError(.badURL) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = load.concurrency
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        let session = URLSession(configuration: configuration)
        let request = URLRequest(url: url)
        try await load.measure {
            let (body, response) = try await session.data(for: request)
            return Reply(status: (response as? HTTPURLResponse)?.statusCode ?? 0, length: body.count)
        }
        session.invalidateAndCancel()
    }
}
