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
        var fields = ["host": head.origin.authority, "x-amz-date": time]
        if service == "s3" { fields["x-amz-content-sha256"] = content.hex }
        let signed = fields.sorted { $0.key < $1.key }
        let names = signed.map(\.key).joined(separator: ";")
        let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
        let canonical = """
            \(head.method)\n\(path(head))\n\(query(head))
            \(signed.map { "\($0.key):\($0.value)\n" }.joined())
            \(names)\n\(content.hex)
            """
        let digest = try ContentDigest(.sha256, of: Bytes(canonical)).hex
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(digest)"
        let steps = scope.split(separator: "/").map(String.init) + [text]
        let code = try steps.reduce(Bytes("AWS4" + secret)) {
            try HTTP.HMAC(.sha256, key: $0).code(of: Bytes($1))
        }
        return try await next(request) {
            for (name, value) in signed where name != "host" {
                $0.head.fields[name] = value
            }
            $0.head.fields["Authorization"] = """
                AWS4-HMAC-SHA256 Credential=\(id)/\(scope), \
                SignedHeaders=\(names), Signature=\(code.hex)
                """
        }
    }

    // S3 wants the path as it is sent, others escape it once more.
    private func path(_ head: RequestHead) -> String {
        escaped(head.path, keeping: service == "s3" ? "/%" : "/")
    }

    // Sorted, `a` as `a=`, and a slash as %2F, which need not be sent so.
    private func query(_ head: RequestHead) -> String {
        (head.query ?? "").split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            let value = item.dropFirst(name.count + 1)
            let pair = [name, value].map { escaped($0, keeping: "%") }
            return (pair[0], pair[1])
        }
        .sorted { $0 < $1 }.map { "\($0)=\($1)" }.joined(separator: "&")
    }

    private func escaped(
        _ text: some StringProtocol, keeping kept: String
    ) -> String {
        text.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            let isPlain =
                character.isLetter || character.isNumber
                || "-._~\(kept)".contains(character)
            return isPlain && byte < 0x80
                ? String(character) : "%\(Bytes([byte]).hex.uppercased())"
        }
        .joined()
    }

    // 20150830T123600Z
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
@Suite(.timeLimit(.minutes(10))) struct `Interceptors guide` {
    private static func signer(
        id: String = "AKIDEXAMPLE", secret: String = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        service: String = "service", at time: TimeInterval = 1_440_938_160
    ) -> Signer {
        Signer(
            id: id, secret: secret, region: "us-east-1", service: service,
            clock: { Date(timeIntervalSince1970: time) })
    }

    private static func signature(
        _ signer: Signer, _ method: HTTP.Method, _ url: String
    ) async throws -> (date: String?, signature: String?) {
        let transport = MockTransport()
        transport.otherwise { _ in .respond(body: "x") }
        let session = try HTTPSession {
            $0.transport = transport
            $0.interceptors = [.exchange(signer)]
        }
        _ = try await session.request(.init(url), method: method, as: .bytes)
        let fields = try #require(transport.requests.first).fields
        let signature = fields["Authorization"]?.split(separator: "=").last.map(String.init)
        return (fields["X-Amz-Date"], signature)
    }

    /// The first three are vectors that the service's makers publish: get-vanilla, get-vanilla-query-order-key and
    /// post-vanilla. The others are what botocore 1.43 signs with, which has the same for the first three.
    @Test(arguments: [
        (HTTP.Method.get, "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        (.get, "/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        (.post, "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        (.get, "/?prefix=photos/2024", "461a1080c9bff460decf9703aebead50cef37ece42bdeea015b142313fe58203"),
        (.get, "/?prefix=photos%2F2024", "461a1080c9bff460decf9703aebead50cef37ece42bdeea015b142313fe58203"),
        (.get, "/?uploads", "45e2d9bc440e1f1a43f34a801dee17a21392d0aa8829ff85dfea1d34515316fc"),
        (.get, "/a%20b", "08c33fd523b5dc18699a2c38863929f12203a282c033d442d45b59a096458aa6"),
        (.get, "/a%20b?uploads", "d4b47c22f2fb7fa293aacb5856992dd12dac33ba2da4461d54d3c0d79de3bc96"),
    ])
    func `a signer signs what is sent`(method: HTTP.Method, target: String, signature: String) async throws {
        let sent = try await Self.signature(Self.signer(), method, "https://example.amazonaws.com\(target)")
        #expect(sent.date == "20150830T123600Z")
        #expect(sent.signature == signature)
    }

    /// The first two are published in S3's own documentation, the others are botocore's.
    @Test(arguments: [
        ("/?lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ("/?max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        ("/?prefix=photos/2024", "aa9d7772d7e64b123fec35e524ec86752254d62eb061da078f6ded390e8db4d7"),
        ("/a%20b?uploads", "b920b523d3b3baa51936158b6e7d34e5c36461fee2dfffac3e25a5a992b268d7"),
        ("/a%20b", "148958ace6e83bc7d9893e7fb92c63d466140bd5acf2a0722d6fea26964f5651"),
    ])
    func `a signer signs for S3 by its rules`(target: String, signature: String) async throws {
        let signer = Self.signer(
            id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", service: "s3",
            at: 1_369_353_600)
        let sent = try await Self.signature(signer, .get, "https://examplebucket.s3.amazonaws.com\(target)")
        #expect(sent.date == "20130524T000000Z")
        #expect(sent.signature == signature)
    }

    @Test func `a session signs what it sends`() async throws {
        let transport = MockTransport()
        transport.otherwise { _ in .respond(body: "x") }
        let (id, secret, region) = ("AKIDEXAMPLE", "x", "us-east-1")
        var configuration = HTTPSession.Configuration(
            baseURL: "https://example.amazonaws.com", transport: transport)
        let signer = Signer(
            id: id, secret: secret, region: region, service: "execute-api")
        configuration.interceptors = [.exchange(signer)]
        _ = try await HTTPSession(configuration).get("users", as: .bytes)
        #expect(transport.requests.first?.fields["Authorization"]?.contains("/us-east-1/execute-api/") == true)
    }

    @Test func `an interceptor can be tested without a session`() async throws {
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

    @Test func `an interceptor can wrap a session's transport`() async throws {
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
