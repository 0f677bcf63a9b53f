import Dunlin
import DunlinTesting
import Synchronization

@testable import DunlinImages

/// A server of pictures, a session that asks it, and a downloader.
struct Gallery {
    let transport: MockTransport
    let session: HTTPSession
    let cache: AutoPurgingImageCache
    let downloader: ImageDownloader

    init(
        clock: ManualClock = ManualClock(), _ change: (inout ImageDownloader.Configuration) -> Void = { _ in },
        session changeSession: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws {
        let (configuration, sessionConfiguration, transport) = try Self.configurations(change, changeSession)
        self.transport = transport
        session = try HTTPSession(sessionConfiguration)
        cache = try AutoPurgingImageCache(
            capacity: 1 << 20, preferredUsage: 1 << 19, pressure: nil, clock: clock)
        downloader = ImageDownloader(session: session, cache: cache, configuration: configuration)
    }

    private static func configurations(
        _ change: (inout ImageDownloader.Configuration) -> Void,
        _ changeSession: (inout HTTPSession.Configuration) throws -> Void
    ) throws -> (ImageDownloader.Configuration, HTTPSession.Configuration, MockTransport) {
        let transport = MockTransport()
        var configuration = ImageDownloader.Configuration()
        change(&configuration)
        var session = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        try changeSession(&session)
        return (configuration, session, transport)
    }

    /// Answers `path` with a picture, at once and always.
    func hang(_ path: String, number: UInt8 = 1, fields: Fields = [:]) async throws {
        let fields = fields.overlaid(with: ["Content-Type": "image/png"])
        transport.on(.get, path).respond(fields: fields, body: try await Pictures.png(number: number)).always()
    }

    /// Answers `path` with a picture once the gate is open.
    func hang(_ path: String, number: UInt8 = 1, behind gate: Gate, fields: Fields = [:]) async throws {
        let fields = fields.overlaid(with: ["Content-Type": "image/png"])
        let png = try await Pictures.png(number: number)
        let outcome = MockTransport.Outcome.stream(fields: fields, length: png.count) { index in
            if index == 0 { try await gate.pass() }
            return index == 0 ? png : nil
        }
        transport.on(.get, path).reply(outcome).always()
    }

    func request(_ path: String, _ change: (inout ImageDownloader.Request) -> Void = { _ in })
        -> ImageDownloader.Request
    {
        var request = ImageDownloader.Request(.url("http://a.test" + path))
        change(&request)
        return request
    }

    /// By what the cache of images knows the picture at a path.
    func key(_ path: String) throws -> ImageKey {
        let request = request(path)
        return downloader.key(of: request, try downloader.inquiry(for: request))
    }

    /// The targets that were asked for so far.
    var targets: [String] { transport.requests.map(\.target) }
}

/// Holds whoever comes until it is opened, or their tasks are cancelled.
final class Gate: Sendable {
    private let clock = ManualClock()
    private let opening: ManualClock.Instant

    init() {
        opening = clock.now.advanced(by: .seconds(1))
    }

    func open() async throws { try await clock.advance(by: .seconds(1)) }

    /// Waits for a moment of the clock, which is over at once for whoever comes after it.
    func pass() async throws { try await clock.sleep(until: opening) }
}
