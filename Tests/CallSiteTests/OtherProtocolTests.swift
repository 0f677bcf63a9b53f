import Dunlin
import DunlinTesting
import Testing

/// What the articles say of servers that do not speak HTTP/1.1.
@Suite(.timeLimit(.minutes(10)))
struct `Servers for HTTP 2 only` {
    /// An empty SETTINGS frame, which such a server sends first.
    private nonisolated static let settings = Bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])

    @Test func `over TLS the handshake is refused, by an alert that says why`() async throws {
        let authority = try CertificateAuthority()
        var tls = try LoopbackServer.TLS(authority.issue(.server("127.0.0.1")))
        tls.protocols = ["h2"]
        let server = try LoopbackServer(tls: tls)
        defer { server.stop() }
        let client = try HTTPSession(baseURL: server.baseURL) {
            $0.tls.roots = .only([.bytes(authority.certificate.der)])
        }
        let error = await #expect(throws: NetworkError.self) { try await client.get("x") }
        #expect(error?.code == .secureConnectionFailed && error?.requestMayHaveBeenSent == false)
        #expect(error?.reason.contains("no_application_protocol") == true)
        await client.shutdown()
    }

    @Test(arguments: [true, false])
    func `in clear text the response is invalid, or the connection is closed`(answers: Bool) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in answers ? .raw(Self.settings).then(.close) : .raw(.empty).then(.close) }
        let client = try HTTPSession(baseURL: server.baseURL)
        let error = await #expect(throws: NetworkError.self) { try await client.get("x") }
        #expect(error?.code == (answers ? .invalidResponse : .connectionClosed))
        await client.shutdown()
    }

    /// `Through nghttpx to HTTP 2` sends the same through the program.
    @Test func `the example about Apple's push service runs as written`() async throws {
        let (token, device, message) = ("signed", "abc", ["aps": ["alert": "Hello"]])
        do {
            let push = try HTTPSession(baseURL: "http://127.0.0.1:8087/3/") {
                $0.originFields["Authorization"] = "bearer \(token)"
                $0.fields["apns-topic"] = "com.example.app"
            }

            #expect(!push.isShutDown)
        }
        let transport = MockTransport()
        transport.on(.post, "/3/device/abc").respond(.ok)
        let push = try HTTPSession(baseURL: "http://127.0.0.1:8087/3/") { $0.transport = transport }
        try await push.post("device/\(device)", json: message)
        #expect(transport.requests.last.map { String($0.body) } == #"{"aps":{"alert":"Hello"}}"#)
    }
}
