import Dunlin
import DunlinDisplay
import DunlinTesting
import Testing

/// What the articles show of requests over a connection.
@Suite(.timeLimit(.minutes(10))) struct `What is measured is printed as shown` {
    private let server: LoopbackServer
    private let client: HTTPSession

    init() throws {
        let authority = try CertificateAuthority()
        server = try LoopbackServer(tls: LoopbackServer.TLS(authority.issue(.server("127.0.0.1"))))
        let body = Bytes([UInt8](repeating: 7, count: 1 << 20))
        server.respond { _ in .response(fields: ["Content-Type": "application/json"], body: body) }
        let base = server.baseURL
        client = try HTTPSession(baseURL: base) {
            $0.tls.roots = .only([.bytes(authority.certificate.der)])
            $0.fields["User-Agent"] = "app/1.0"
            $0.credentials = .bearer(token: "t")
        }
    }

    @Test func `a trace of the wire`() async throws {
        var trace = client.trace().makeAsyncIterator()
        try await client.get("users/42", query: ["token": "t"])
        var lines: [String] = []
        while lines.last?.contains("complete") != true, let event = await trace.next() { lines.append("\(event)") }
        #expect(
            isShown(
                lines.joined(separator: "\n").replacing("Host: 127.0.0.1:\(server.port)", with: "Host: api.test"),
                as: """
                    #1 * connection 12 to 192.0.2.7:443 is new, TLS 1.3, TLS_AES_256_GCM_SHA384
                    #1 > GET /users/42?token=*** HTTP/1.1
                    #1 > Host: api.test
                    #1 > Accept: */*
                    #1 > Accept-Encoding: gzip, deflate
                    #1 > User-Agent: app/1.0
                    #1 > Authorization: <redacted>
                    #1 * 231 bytes sent
                    #1 < HTTP/1.1 200 OK
                    #1 < Content-Type: application/json
                    #1 < Content-Length: 512
                    #1 * response complete, 512 bytes of body
                    """, measured: true), "\(lines.joined(separator: "\n"))")
        server.stop()
    }

    @Test func `metrics, as text and as a waterfall`() async throws {
        let metrics = try await client.get("users/42", as: .bytes).metrics
        #expect(
            isShown(
                metrics,
                as: """
                    new connection 7 to 192.0.2.7:443, 6.8 ms
                      connect   149 µs     ▇
                      tls       2.1 ms     ▇▇▇▇▇▇▇▇▇
                      send      62 µs      ▇
                      firstByte 3.2 ms     ▇▇▇▇▇▇▇▇▇▇▇▇▇▇
                      receive   1.3 ms     ▇▇▇▇▇
                    """, measured: true), "\(metrics)")
        let style = DisplayStyle(hasColour: false, hasUnicode: true)
        let lines = Waterfall(metrics).lines(width: 64, style: style).joined(separator: "\n")
        #expect(
            isShown(
                lines,
                as: """
                    new connection 1 to 127.0.0.1:37705, 249.8 ms
                      connect      275 µs  ━
                      tls         42.5 ms  ━━━━━━━
                      send         2.9 ms         ━
                      firstByte   75.2 ms         ────────────
                      receive     38.6 ms                     ━━━━━━
                                           0               124.9 ms        249.8 ms
                    """, measured: true), "\(lines)")
        server.stop()
    }
}
