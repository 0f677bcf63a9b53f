import Dunlin
import DunlinOpenAPI
import DunlinTesting
import Foundation
import HTTPTypes
import OpenAPIRuntime
import Testing

/// Many large bodies at once take as much memory as their buffers, and not as their bodies.
@Suite(.serialized, .timeLimit(.minutes(20))) struct `Ten large streams at once` {
    static let streams = 10
    /// The length of each body, in MB: 20, or what the environment says.
    static let megabytes = ProcessInfo.processInfo.environment["DUNLIN_STREAM_MEGABYTES"].flatMap { Int($0) } ?? 20
    static let length = megabytes << 20
    /// More than ten pairs of buffers need, and far less than the bodies.
    static let allowed = 64 << 20

    /// The memory that this process has now.
    static func resident() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 1024
    }

    /// Runs ten operations, and returns by how much memory grew at most while `visit` was called.
    static func growth(
        _ reply: @escaping @Sendable (LoopbackServer.RecordedRequest) -> LoopbackServer.Reply,
        _ operation: @escaping @Sendable (OpenAPITransport, URL, Peak) async throws -> Void
    ) async throws -> Int {
        var configuration = LoopbackServer.Configuration()
        configuration.keptBodyLimit = 0
        let server = try LoopbackServer(configuration: configuration)
        defer { server.stop() }
        server.respond(reply)
        let transport = OpenAPITransport(try HTTPSession())
        let base = try #require(URL(string: server.baseURL))
        let peak = Peak(try resident())
        try await withThrowingTaskGroup { group in
            for _ in 0..<streams { group.addTask { try await operation(transport, base, peak) } }
            try await group.waitForAll()
        }
        #expect(server.failures.isEmpty)
        return peak.growth
    }

    static let request = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/")

    @Test func `that come take no more memory than short ones`() async throws {
        let length = Self.length
        let growth = try await Self.growth({ _ in .generated(length: length) }) { transport, base, peak in
            let (_, body) = try await transport.send(Self.request, body: nil, baseURL: base, operationID: "op")
            var (count, pieces) = (0, 0)
            for try await piece in try #require(body) {
                #expect(piece.first == LoopbackServer.GeneratedBody.byte(at: count))
                count += piece.count
                pieces += 1
                if pieces % 64 == 0 { try peak.look() }
            }
            #expect(count == length)
        }
        #expect(growth < Self.allowed, "\(growth >> 20) MB for \(Self.streams) bodies of \(Self.megabytes) MB")
    }

    @Test(arguments: [true, false]) func `that go take no more memory than short ones`(isKnown: Bool) async throws {
        let growth = try await Self.growth({ .response(body: Bytes("\($0.bodyCount)")) }) { transport, base, peak in
            let pieces = Pieces(Self.length >> 16, of: 64 << 10) { if $0 % 64 == 0 { try peak.look() } }
            let (_, body) = try await transport.send(
                Self.request, body: pieces.body(known: isKnown), baseURL: base, operationID: "op")
            #expect(try await String(collecting: #require(body), upTo: 100) == "\(Self.length)")
        }
        #expect(growth < Self.allowed, "\(growth >> 20) MB for \(Self.streams) bodies of \(Self.megabytes) MB")
    }
}
