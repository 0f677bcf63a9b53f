import Dunlin
import DunlinTesting
import FoundationEssentials
import Synchronization
import Testing

// The signer of the article, by the rules of "AWS Signature Version 4".
nonisolated struct Signer: HTTPSession.Interceptor {
    let id, secret, region, service: String
    var clock: @Sendable () -> Date = { .now }

    func intercept(
        _ unsigned: TransportRequest, next: HTTPSession.Next
    ) async throws -> TransportResponse {
        let (request, content) = try await unsigned.digested(by: .sha256)
        let (head, time) = (request.head, stamp(clock()))
        let query = (head.query ?? "").split(separator: "&").sorted()
        let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
        let canonical = """
            \(head.method)\n\(head.path)\n\(query.joined(separator: "&"))
            host:\(head.origin.authority)\nx-amz-date:\(time)\n
            host;x-amz-date\n\(content.hex)
            """
        let digest = try ContentDigest(.sha256, of: Bytes(canonical)).hex
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(digest)"
        let steps = scope.split(separator: "/").map(String.init) + [text]
        let code = try steps.reduce(Bytes("AWS4" + secret)) {
            try HTTP.HMAC(.sha256, key: $0).code(of: Bytes($1))
        }
        return try await next(request) {
            $0.head.fields["X-Amz-Date"] = time
            $0.head.fields["Authorization"] = """
                AWS4-HMAC-SHA256 Credential=\(id)/\(scope), \
                SignedHeaders=host;x-amz-date, Signature=\(code.hex)
                """
        }
    }

    private func stamp(_ date: Date) -> String {
        date.formatted(
            .iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
    }
}

nonisolated struct Recorder: Transport {
    let inner: any Transport
    let record: @Sendable (TransportRequest, HTTP.Status) -> Void

    func exchange(
        _ request: TransportRequest
    ) async throws -> TransportResponse {
        let response = try await inner.exchange(request)
        record(request, response.head.status)
        return response
    }
}

/// The snippets of the article about interceptors.
@Suite struct `Interceptors guide` {
    private nonisolated static let noon = Date(timeIntervalSince1970: 1_440_938_160)

    private static func signer() -> Signer {
        Signer(
            id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", region: "us-east-1",
            service: "service", clock: { noon })
    }

    /// The vectors that the service's makers publish: get-vanilla, get-vanilla-query-order-key, post-vanilla.
    @Test(arguments: [
        (HTTP.Method.get, "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        (.get, "/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        (.post, "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    ])
    func `a signer signs what is sent`(method: HTTP.Method, target: String, signature: String) async throws {
        let transport = MockTransport()
        transport.otherwise { _ in .respond(body: "x") }
        let (id, secret, region) = ("AKIDEXAMPLE", "x", "us-east-1")
        var configuration = HTTPSession.Configuration(
            baseURL: "https://example.amazonaws.com", transport: transport)
        let signer = Signer(
            id: id, secret: secret, region: region, service: "execute-api")
        configuration.interceptors = [.exchange(signer)]
        configuration.interceptors = [.exchange(Self.signer())]
        let session = try HTTPSession(configuration)
        _ = try await session.request(method, .init(target), as: .bytes)
        let sent = try #require(transport.requests.first)
        #expect(sent.fields["X-Amz-Date"] == "20150830T123600Z")
        #expect(sent.fields["Authorization"]?.hasSuffix("Signature=\(signature)") == true)
    }

    @Test func `an interceptor is tried alone`() async throws {
        let signer = Self.signer()
        let transport = MockTransport()
        transport.on(.get, "/").respond()
        let request = TransportRequest(
            head: RequestHead(
                method: .get,
                origin: HTTP.Origin(scheme: .https, host: "api.test"),
                target: "/"))
        _ = try await signer.intercept(request, next: .init(transport))
        #expect(transport.requests[0].fields["Authorization"] != nil)
    }

    @Test func `each exchange has fields of its own, and a host its field`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/users").respond(503).thenRespond(body: "x")
        let (trace, key) = ("4bf92f3577b34da6a3ce929d0e0e4736", "k")
        var configuration = HTTPSession.Configuration(
            baseURL: "https://api.example.com", retry: .exponential(attempts: 2, base: .zero), transport: transport)
        configuration.interceptors = [
            .exchange { request, next in
                let bytes = (0..<8).map { _ in UInt8.random(in: 0...255) }
                let span = Bytes(bytes).hex
                return try await next(request) {
                    $0.head.fields["traceparent"] = "00-\(trace)-\(span)-01"
                }
            },
            .exchange { request, next in
                guard request.head.origin.host == "api.example.com" else {
                    return try await next(request)
                }
                return try await next(request) {
                    $0.head.fields["X-API-Version"] = "2"
                }
            },
        ]
        let session = try HTTPSession(configuration)
        _ = try await session.get("users", as: .bytes)
        let traces = transport.requests.compactMap { $0.fields["traceparent"] }
        #expect(traces.count == 2 && traces[0] != traces[1] && traces[0].count == 55)
        #expect(transport.requests.allSatisfy { $0.fields["X-API-Version"] == "2" } && key == "k")
    }

    @Test func `a call is measured, answered from memory, and sent again elsewhere`() async throws {
        let transport = MockTransport()
        transport.otherwise { $0.origin.host == "b.example.com" ? .respond(body: "b") : .respond(503) }
        var configuration = HTTPSession.Configuration(
            baseURL: "https://a.example.com", transport: transport)
        let spare = HTTP.Origin(scheme: .https, host: "b.example.com")
        configuration.interceptors = [
            .call { request, next in
                let start = ContinuousClock.now
                let response = try await next(request)
                print(request.head.path, response.head.status, .now - start)
                return response
            },
            .call { request, next in
                let response = try await next(request)
                guard response.head.status == 503 else { return response }
                return try await next(request) { $0.head.origin = spare }
            },
        ]
        let session = try HTTPSession(configuration)
        #expect(try await session.get("users", as: .string).value == "b")
    }

    @Test func `each exchange is written down as a command`() async throws {
        let transport = MockTransport()
        transport.otherwise { _ in .respond(body: "x") }
        let lines = Mutex<[String]>([])
        let log: @Sendable (String) -> Void = { line in lines.withLock { $0.append(line) } }
        var configuration = HTTPSession.Configuration(
            baseURL: "https://api.test", fields: [:], transport: transport)
        configuration.credentials = .bearer(token: "hunter2")
        configuration.interceptors = [
            .exchange { request, next in
                log(request.curl())
                return try await next(request)
            }
        ]
        let session = try HTTPSession(configuration)
        _ = try await session.get("users", as: .bytes)
        let line = try #require(lines.withLock { $0.first })
        #expect(line.hasPrefix("curl https://api.test/users --http1.1 -H 'Authorization: "))
        #expect(!line.contains("hunter2"))
    }

    @Test func `a transport is wrapped`() async throws {
        let transport = MockTransport()
        transport.otherwise { _ in .respond(body: "x") }
        let lines = Mutex<[String]>([])
        let log: @Sendable (String) -> Void = { line in lines.withLock { $0.append(line) } }
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test", transport: transport)
        configuration.interceptors = [
            .transport { inner in
                Recorder(inner: inner) { request, status in
                    log("\(request.head.method) \(request.head.path) \(status)")
                }
            }
        ]
        let session = try HTTPSession(configuration)
        _ = try await session.get("users", as: .bytes)
        #expect(lines.withLock { $0 } == ["GET /users 200"])
    }
}
