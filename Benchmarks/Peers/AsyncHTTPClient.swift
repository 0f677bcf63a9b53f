import AsyncHTTPClient
import BenchmarkLoad
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// AsyncHTTPClient as an expert drives it: one client, its defaults, as many connections as callers, no logger. One
/// event loop, because the client has one core; Dunlin has one there too.
///
/// It is in no target: AsyncHTTPClient is an outside package, and the harness is given the program.
@main
struct AsyncHTTPClientPeer {
    static func main() async throws {
        let load = try Load()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let client = HTTPClient(eventLoopGroup: group, configuration: configuration(load))
        do {
            try await measure(load, client)
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
        try await group.shutdownGracefully()
    }

    private static func configuration(_ load: Load) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = load.concurrency
        // As libcurl's CURLOPT_FORBID_REUSE: the client closes, and says nothing of it.
        if load.isFresh { configuration.maximumUsesPerConnection = 1 }
        if let authority = load.authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(authority)
            configuration.tlsConfiguration = tls
        }
        return configuration
    }

    private static func measure(_ load: Load, _ client: HTTPClient) async throws {
        guard load.job == .none, load.output.isEmpty, load.file.isEmpty, !load.isResumed else { throw NoPart() }
        let request = HTTPClientRequest(url: "\(load.scheme)://\(load.host):\(load.port)\(load.path)")
        if load.isBulk {
            try await load.measure(Download(client: client, request: request))
        } else if load.upload > 0 {
            try await load.measure(Upload(client: client, request: request, length: load.upload))
        } else {
            try await load.measure(Get(client: client, request: request))
        }
    }
}

/// It has no part in this scenario.
struct NoPart: Error {}

/// Longer than any run takes.
private let timeout = TimeAmount.minutes(10)

struct Get: Sender {
    let client: HTTPClient
    let request: HTTPClientRequest

    func send() async throws -> Reply {
        let response = try await client.execute(request, timeout: timeout)
        let body = try await response.body.collect(upTo: 1 << 20)
        return Reply(status: Int(response.status.code), length: body.readableBytes)
    }
}

struct Download: Sender {
    let client: HTTPClient
    let request: HTTPClientRequest

    func send() async throws -> Reply {
        let response = try await client.execute(request, timeout: timeout)
        var count = 0
        for try await buffer in response.body { count += buffer.readableBytes }
        return Reply(status: Int(response.status.code), length: count)
    }
}

struct Upload: Sender {
    let client: HTTPClient
    let request: HTTPClientRequest
    let length: Int

    func send() async throws -> Reply {
        var request = request
        request.method = .PUT
        request.body = .stream(Zeros(count: length), length: .known(Int64(length)))
        let response = try await client.execute(request, timeout: timeout)
        let body = try await response.body.collect(upTo: 1 << 20)
        return Reply(status: Int(response.status.code), length: body.readableBytes)
    }
}

/// A body without a cost of its own: one buffer, said again until there are enough bytes.
struct Zeros: AsyncSequence, Sendable {
    let count: Int

    struct Iterator: AsyncIteratorProtocol {
        let buffer = ByteBuffer(repeating: 0, count: 256 * 1024)
        var left: Int

        mutating func next() async throws -> ByteBuffer? {
            guard left > 0 else { return nil }
            let size = Swift.min(left, buffer.readableBytes)
            left -= size
            return size == buffer.readableBytes ? buffer : buffer.getSlice(at: buffer.readerIndex, length: size)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(left: count) }
}
