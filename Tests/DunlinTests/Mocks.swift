import Dunlin
import DunlinTesting

/// A session over a mock transport, and the transport.
struct Mocked {
    let transport: MockTransport
    let session: HTTPSession

    init(
        _ baseURL: String? = "http://api.test", clock: any Clock<Duration> = ContinuousClock(),
        _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws {
        transport = MockTransport(clock: clock)
        var configuration = HTTPSession.Configuration(baseURL: baseURL, transport: transport)
        try change(&configuration)
        session = try HTTPSession(configuration)
    }
}

struct User: Codable, Equatable {
    var id: Int
    var name: String
}

/// The error that `body` throws, if it is a `NetworkError`.
func networkError(_ body: () async throws -> Void) async throws -> NetworkError? {
    do {
        try await body()
    } catch let error as NetworkError {
        return error
    }
    return nil
}
