import Dunlin
import DunlinTesting
import LeakChecking
import Testing

/// A server that speaks HTTP/2, asked by HTTP/1.1 through nghttpx, as the article "Getting started" does with Apple's.
///
/// nginx is that server. What Apple would answer is behind it, where it passes on how a request came.
@Suite(.needsNginx, .needsNghttpx, .leakChecked, .timeLimit(.minutes(5)))
struct `Through nghttpx to HTTP 2` {
    private static func with(
        showing name: String = "localhost", trusting trusted: CertificateAuthority? = nil,
        _ play: (HTTPSession, LoopbackServer, Nginx) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        var security = Nginx.Security(try authority.issue(.server(name)))
        security.speaksHTTP2 = true
        let apple = try LoopbackServer()
        defer { apple.stop() }
        apple.respond { request in
            request.target == "/3/device/gone"
                ? .response(410, fields: ["apns-id": "2"], body: #"{"reason":"Unregistered"}"#)
                : .response(fields: ["apns-id": "1"])
        }
        try await Nginx.with(security, upstream: apple.port) { nginx in
            try await Nghttpx.with(to: "localhost,\(nginx.port)", trusting: trusted ?? authority) { nghttpx in
                var configuration = HTTPSession.Configuration(baseURL: nghttpx.baseURL + "/3/")
                configuration.useLoopOfTest()
                configuration.originFields["Authorization"] = "bearer signed"
                configuration.fields["apns-topic"] = "com.example.app"
                let session = try HTTPSession(configuration)
                try await play(session, apple, nginx)
                await session.shutdown()
            }
        }
    }

    @Test func `messages arrive over one connection, and their answers come back`() async throws {
        try await Self.with { session, apple, nginx in
            let message = ["aps": ["alert": "Hello"]]
            for index in 0..<2 {
                let response = try await session.post("device/here", json: message, as: .bytes)
                #expect(response.status == .ok && response.value.isEmpty && response.fields["apns-id"] == "1")
                #expect(response.metrics.hops.map(\.isConnectionReused) == [index > 0])
            }
            let error = try await NetworkError.thrown { try await session.post("device/gone", json: message) }
            #expect(error.response?.status.code == 410 && error.response?.fields["apns-id"] == "2")
            #expect(error.body.map { String($0) } == #"{"reason":"Unregistered"}"#)
            #expect(session.connections.opened == 1)
            let arrivals = Set(apple.requests.map { $0.fields["arrival"] ?? "" })
            #expect(arrivals.count == 1 && arrivals.first?.hasPrefix("HTTP/2.0 ") == true, "\(arrivals)")
            #expect(apple.requests.map(\.target) == ["/3/device/here", "/3/device/here", "/3/device/gone"])
            for request in apple.requests {
                #expect(request.method == .post && String(request.body) == #"{"aps":{"alert":"Hello"}}"#)
                #expect(request.fields["apns-topic"] == "com.example.app")
                #expect(request.fields["authorization"] == "bearer signed")
                #expect(request.fields["content-type"] == "application/json")
                #expect(request.fields["host"] == "localhost:\(nginx.port)")
            }
        }
    }

    @Test(arguments: [("localhost", false), ("other.test", true)])
    func `a server with a wrong name, or that the authorities do not vouch for, gets nothing`(
        name: String, isTrusted: Bool
    ) async throws {
        try await Self.with(
            showing: name, trusting: isTrusted ? nil : CertificateAuthority()
        ) { (session: HTTPSession, apple, _) in
            let error = try await NetworkError.thrown { try await session.post("device/here", json: ["aps": "Hello"]) }
            #expect([502, 503].contains(error.response?.status.code ?? 0), "\(error)")
            #expect(apple.requests.isEmpty)
        }
    }
}
