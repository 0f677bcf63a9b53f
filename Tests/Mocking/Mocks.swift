package import Dunlin
package import DunlinTesting

/// A session over a mock transport, and the transport.
package struct Mocked {
    package let transport: MockTransport
    package let session: HTTPSession

    package init(
        _ baseURL: String? = "http://api.test", clock: any Clock<Duration> = ContinuousClock(),
        _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws {
        transport = MockTransport(clock: clock)
        var configuration = HTTPSession.Configuration(baseURL: baseURL, transport: transport)
        try change(&configuration)
        session = try HTTPSession(configuration)
    }
}

package struct User: Codable, Equatable {
    package var id: Int
    package var name: String

    package init(id: Int, name: String) {
        self.id = id
        self.name = name
    }
}

/// The error that `body` throws, if it is a `NetworkError`.
package func networkError(_ body: () async throws -> Void) async throws -> NetworkError? {
    do {
        try await body()
    } catch let error as NetworkError {
        return error
    }
    return nil
}
