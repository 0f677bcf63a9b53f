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
