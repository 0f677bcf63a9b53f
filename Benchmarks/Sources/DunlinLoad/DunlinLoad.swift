public import BenchmarkLoad
public import Dunlin

extension Load {
    /// A session for this load.
    public func session() throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "\(scheme)://\(host):\(port)")
        configuration.connections.perOrigin = concurrency
        configuration.connections.total = concurrency
        if let authority { configuration.tls.roots = .only([.file(authority)]) }
        configuration.tls.resumesSessions = isResumed || !isFresh
        return try HTTPSession(configuration)
    }

    /// What a fresh connection's handshake must be; nil where it does not matter.
    private var resumption: Bool? { authority != nil && isFresh ? isResumed : nil }

    /// The load over Dunlin, where it is called.
    public func measure(_ session: HTTPSession) async throws {
        let target = HTTPSession.Target(path)
        if isBulk { return try await measure(Download(session: session, target: target)) }
        if upload > 0 { return try await measure(Upload(session: session, target: target, length: upload, file: file)) }
        var options = HTTPSession.Options()
        if isFresh { options.fields["Connection"] = "close" }
        let first = Get(session: session, target: target, options: options, resumption: nil)
        let get = Get(session: session, target: target, options: options, resumption: resumption)
        try await measure(get, warmingUpWith: first)
    }
}

private struct Get: Sender {
    let session: HTTPSession
    let target: HTTPSession.Target
    let options: HTTPSession.Options
    let resumption: Bool?

    func send() async throws -> Reply {
        let response = try await session.get(target, options: options, as: .bytes)
        if let resumption, response.metrics.attempts.last?.security?.isResumed != resumption {
            throw WrongHandshake(wanted: resumption ? "resumed" : "full")
        }
        return Reply(status: Int(response.status.code), length: response.value.count)
    }
}

/// A connection was made in the way that is not the one to be measured.
private struct WrongHandshake: Error {
    let wanted: String
}

private struct Download: Sender {
    let session: HTTPSession
    let target: HTTPSession.Target

    func send() async throws -> Reply {
        try await session.withStream(from: target) { response in
            var count = 0
            for try await chunk in response.body { count += chunk.count }
            return Reply(status: Int(response.status.code), length: count)
        }
    }
}

private struct Upload: Sender {
    let session: HTTPSession
    let target: HTTPSession.Target
    let length: Int
    let file: String

    func send() async throws -> Reply {
        let body: RequestBody = file.isEmpty ? .stream(Zeros(count: length), length: length) : .file(file)
        let response = try await session.put(target, body: body, as: .bytes)
        return Reply(status: Int(response.status.code), length: response.value.count)
    }
}

/// A body without a cost of its own: one chunk, said again until there are enough bytes.
struct Zeros: AsyncSequence, Sendable {
    let count: Int

    struct Iterator: AsyncIteratorProtocol {
        let chunk = Bytes([UInt8](repeating: 0, count: 256 * 1024))
        var left: Int

        mutating func next() async throws -> Bytes? {
            guard left > 0 else { return nil }
            let size = Swift.min(left, chunk.count)
            left -= size
            return size == chunk.count ? chunk : chunk[0..<size]
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(left: count) }
}
