import DunlinReactor
import DunlinSecure
import DunlinTesting
import DunlinTypes
import Synchronization
import Testing

@testable import DunlinTransport

/// Says a line, and goes on if it is let in.
private struct Knock: ConnectionStage {
    let word: String

    struct TurnedAway: Error, Equatable {
        let answer: String
    }

    func pass(_ line: inout StageSocket) async throws -> StageOutcome {
        try await line.write(Bytes("\(word)\n"))
        var answer: [UInt8] = []
        while answer.last != UInt8(ascii: "\n") {
            let byte = try await line.read(upTo: 1)
            if byte.isEmpty { break }
            answer += byte
        }
        guard answer.elementsEqual("come in\n".utf8) else {
            throw TurnedAway(answer: String(decoding: answer, as: UTF8.self))
        }
        return .passed
    }
}

/// Advice that believes everybody.
private final class Credulity: TLSPolicySource, TLSPolicy, PeerTrust {
    private let tls: TLSContext
    let isAtHand: Bool
    private let reactor: Reactor
    private let asked = Mutex<[Bool]>([])

    init(isAtHand: Bool = true, on reactor: Reactor) throws {
        (tls, self.isAtHand, self.reactor) = (try TLSContext(), isAtHand, reactor)
    }

    /// Whether it was asked on the loop, each time.
    var askedOnLoop: [Bool] { asked.withLock { $0 } }

    func tlsPolicy(_ then: @escaping @Sendable (any TLSPolicy) -> Void) { then(self) }
    var tlsGeneration: UInt64 { 1 }
    func context() -> TLSContext { tls }
    func peer(for origin: HTTP.Origin) -> TLSPeer {
        asked.withLock { $0.append(reactor.isCurrent) }
        return TLSPeer(origin, serverName: nil, trust: self)
    }
    func finalDecision(on decision: HTTP.TrustDecision, about origin: HTTP.Origin) -> HTTP.TrustDecision { decision }
    func identity(for origin: HTTP.Origin, acceptableIssuers: [String]) -> ClientIdentity? { nil }

    var key: Certificate.Fingerprint { Certificate.Fingerprint(unchecked: Bytes([UInt8](repeating: 0, count: 32))) }
    func decide(on presented: borrowing PresentedChain) -> HTTP.TrustDecision { .accepted(path: []) }
    func stillAccepts(_ path: [Certificate], at now: Int64) -> Bool { true }
}

/// A transport whose way to a server leads past a proxy.
private struct Way {
    let proxy: ScriptedProxy
    let server: LoopbackServer
    let reactor: Reactor
    let time: ManualTime
    let transport: SocketTransport
    let scheme: HTTP.Origin.Scheme
    let credulity: Credulity
    let cancellation = Cancellation()

    static func with(
        _ answers: [String?], _ scheme: HTTP.Origin.Scheme, stages: [any ConnectionStage], isAtHand: Bool = true,
        _ play: (Way) async throws -> Void
    ) async throws {
        let certificate = try CertificateAuthority().issue(.server("127.0.0.1"))
        let server = try LoopbackServer(tls: scheme == .https ? .init(certificate) : nil)
        server.respond { _ in .response(body: "inside") }
        let proxy = try ScriptedProxy(to: server.port, answering: answers)
        defer {
            proxy.stop()
            server.stop()
        }
        let time = ManualTime()
        let reactor = try Reactor(time: .manual(time))
        defer { reactor.retire() }
        var options = SocketTransport.Options()
        options.stages = stages
        let credulity = try Credulity(isAtHand: isAtHand, on: reactor)
        let transport = SocketTransport(options, on: reactor, tlsPolicySource: credulity)
        let way = Way(
            proxy: proxy, server: server, reactor: reactor, time: time, transport: transport, scheme: scheme,
            credulity: credulity)
        try await play(way)
        await transport.close()
        try await eventually("all is closed", following: Turns(of: reactor)) { reactor.ledger.openChannels == 0 }
    }

    func get() async throws -> TransportResponse {
        let origin = HTTP.Origin(scheme: scheme, host: "127.0.0.1", port: proxy.port)
        let request = TransportRequest(head: RequestHead(method: .get, origin: origin, target: "/"))
        return try await withTaskExecutorPreference(reactor) {
            try await transport.exchange(request, cancellation: cancellation, since: reactor.now(), on: reactor)
        }
    }

    /// How a request fails that hears nothing after its line, once `mishap` comes.
    func failure(after mishap: () -> Void) async throws -> NetworkError? {
        async let error = thrown()
        try await eventually("it waits", following: Turns(of: reactor)) {
            proxy.visits.first?.lines.isEmpty == false && reactor.isResting
        }
        mishap()
        return try await error
    }

    func thrown() async throws -> NetworkError? { try await networkError { _ = try await get() } }
}

@Suite(.timeLimit(.minutes(10))) struct `Stages of a connection` {
    static let schemes: [HTTP.Origin.Scheme] = [.http, .https]

    /// The first byte of a TLS record that shakes hands, or of GET.
    private static func opening(_ scheme: HTTP.Origin.Scheme) -> UInt8 { scheme == .https ? 22 : UInt8(ascii: "G") }

    @Test func `an answer that was sent before the request is none, on a new connection in clear text`() async throws {
        let early = "come in\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"
        try await Way.with([early], .http, stages: [Knock(word: "first")]) { way in
            let error = try await way.thrown()
            #expect(error?.code == .invalidResponse && error?.phase == .send)
            #expect(error?.reason.contains("the server sent bytes before the request was sent") == true)
            #expect(error?.requestMayHaveBeenSent == false && way.server.requests.isEmpty)
        }
    }

    @Test(arguments: schemes)
    func `stages run on the plain socket before TLS, one after the other`(scheme: HTTP.Origin.Scheme) async throws {
        let stages = [Knock(word: "first"), Knock(word: "second")]
        try await Way.with(["come in", "come in"], scheme, stages: stages) { way in
            for _ in 0..<2 {
                let response = try await way.get()
                guard case .bytes(let body) = response.body else { throw Unfinished() }
                #expect(body == "inside")
                #expect((response.hop.security != nil) == (scheme == .https))
            }
            // The second request found the connection open.
            #expect(way.proxy.visits == [.init(lines: ["first", "second"], next: Self.opening(scheme))])
            #expect(way.transport.gauges.opened == 1 && way.transport.gauges.reuses == 1)
        }
    }

    /// Others wait on the loop meanwhile.
    @Test(arguments: [true, false])
    func `whom to trust is found out off the loop if files must be read for it`(isAtHand: Bool) async throws {
        try await Way.with([], .https, stages: [], isAtHand: isAtHand) { way in
            _ = try await way.get()
            #expect(way.credulity.askedOnLoop == [isAtHand])
        }
    }

    private struct Unfinished: Error {}

    @Test(arguments: schemes)
    func `a direct connection has no stages`(scheme: HTTP.Origin.Scheme) async throws {
        try await Way.with([], scheme, stages: []) { way in
            _ = try await way.get()
            #expect(way.proxy.visits == [.init(lines: [], next: Self.opening(scheme))])
        }
    }

    @Test(arguments: schemes)
    func `a stage that throws fails the request, and nothing more is sent`(scheme: HTTP.Origin.Scheme) async throws {
        let stages = [Knock(word: "first"), Knock(word: "second")]
        try await Way.with(["go away", "come in"], scheme, stages: stages) { way in
            await #expect(throws: Knock.TurnedAway(answer: "go away\n")) { try await way.get() }
            #expect(way.transport.gauges.open == 0)
            #expect(way.proxy.visits == [.init(lines: ["first"])])
            #expect(way.server.requests.isEmpty)
        }
    }

    @Test(arguments: schemes)
    func `a stage ends at the limit of a tunnel`(scheme: HTTP.Origin.Scheme) async throws {
        try await Way.with([nil], scheme, stages: [Knock(word: "first")]) { way in
            let error = try await way.failure { way.time.advance(by: 30_000_000_000) }
            #expect(error?.code == .timedOut && error?.phase == .tunnel && error?.limit == .seconds(30))
            #expect(error?.requestMayHaveBeenSent == false)
            #expect(way.transport.gauges.open == 0)
        }
    }

    @Test(arguments: schemes)
    func `a stage ends at once when the request is cancelled`(scheme: HTTP.Origin.Scheme) async throws {
        try await Way.with([nil], scheme, stages: [Knock(word: "first")]) { way in
            let error = try await way.failure { way.cancellation.cancel(.handle) }
            #expect(error?.code == .cancelled && error?.phase == .tunnel)
            #expect(way.transport.gauges.open == 0)
        }
    }
}
