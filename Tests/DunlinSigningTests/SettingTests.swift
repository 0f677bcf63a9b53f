import Dunlin
import DunlinSigning
import DunlinTesting
import FoundationEssentials
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Settings of signing` {
    private static let request = TransportRequest(
        head: .init(method: .put, origin: .init(scheme: .https, host: "api.test"), target: "/"), body: .string("x"))

    private static func signer(
        _ region: String = "us-east-1", _ service: AWSSigner.Service = "service", accessKey: String = "AKIDEXAMPLE",
        secret: String = "hunter2", sessionToken: String? = nil, payload: AWSSigner.Payload = .signed,
        at seconds: Double = 0
    ) -> AWSSigner {
        var signer = AWSSigner(
            region: region, service: service,
            credentials: .init(accessKey: accessKey, secret: secret, sessionToken: sessionToken), payload: payload)
        signer.clock = { Date(timeIntervalSince1970: seconds) }
        return signer
    }

    @Test(arguments: [
        (signer(""), "write one such as \"eu-central-1\""),
        (signer("us east 1"), "\"us east 1\" is no region"),
        (signer("us-east-1", "s3/x"), "\"s3/x\" is no service"),
        (signer(accessKey: ""), "the access key that requests are to be signed with is empty"),
        (signer(accessKey: "hunter2/x"), "check that it is not the secret"),
        (signer(secret: "hunter2\n"), "check that it was read without its line's end"),
        (signer(sessionToken: ""), "the session token that requests are to be signed with is empty"),
        (signer(payload: .chunks(of: 8_191)), "at least 8192"),
        (signer(at: -1), "check the signer's `clock`"),
        (signer(at: 253_402_300_800), "check the signer's `clock`"),
        (signer(at: .nan), "check the signer's `clock`"),
    ])
    func `what cannot be signed with is refused, and said without a secret`(signer: AWSSigner, advice: String) async {
        for isPresigned in [false, true] {
            let error = await #expect(throws: NetworkError.self) {
                _ =
                    isPresigned
                    ? try await signer.presigned("https://api.test/", expiresAfter: .seconds(1))
                    : try await signer.signed(Self.request).head.target
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.reason.contains(advice) == true, "\(error?.reason ?? "")")
            #expect(error?.reason.contains("hunter2") == false)
        }
    }

    @Test(arguments: [
        Duration.zero, .seconds(-1), .milliseconds(999), .seconds(604_801), .seconds(604_800) + .nanoseconds(1),
    ])
    func `a presigned URL lasts a second to seven days`(duration: Duration) async {
        let error = await #expect(throws: NetworkError.self) {
            try await Self.signer().presigned("https://api.test/", expiresAfter: duration)
        }
        #expect(error?.code == .invalidRequest && error?.reason.contains("1 second to 7 days") == true)
    }

    @Test(arguments: [(Duration.seconds(1), "1"), (.seconds(604_800), "604800")])
    func `a presigned URL may last as long as that`(duration: Duration, seconds: String) async throws {
        let url = try await Self.signer(sessionToken: "t/1").presigned(
            "https://api.test:8443/a%20b?q=1", fields: ["X-Amz-Acl": "private"], expiresAfter: duration)
        #expect(url.hasPrefix("https://api.test:8443/a%20b?X-Amz-Algorithm=AWS4-HMAC-SHA256&"))
        #expect(url.contains("&X-Amz-Expires=\(seconds)&"))
        #expect(url.contains("&X-Amz-Security-Token=t%2F1&X-Amz-SignedHeaders=host%3Bx-amz-acl&q=1&X-Amz-Signature="))
    }

    @Test func `what is no URL has no presigned one`() async {
        let error = await #expect(throws: NetworkError.self) {
            try await Self.signer().presigned("photos/1.jpg", expiresAfter: .seconds(60))
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `no description shows a secret or a token`() async throws {
        let signer = Self.signer(sessionToken: "swordfish")
        let credentials = AWSSigner.Credentials(accessKey: "AKIDEXAMPLE", secret: "hunter2", sessionToken: "swordfish")
        var keys = SigningKeys()
        let scope = try SigningScope(Date(timeIntervalSince1970: 0), region: "r", service: "s")
        _ = try keys.key("hunter2", scope)
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test")
        try configuration.sign(with: signer)
        var text = "\(signer) \(credentials) \(String(reflecting: signer)) \(String(reflecting: credentials)) \(keys)"
        dump(signer, to: &text)
        dump(credentials, to: &text)
        dump(keys, to: &text)
        dump(configuration.interceptors, to: &text)
        let signed = try await signer.signed(Self.request)
        dump(signed.head, to: &text)
        text += "\(signed.head.fields) \(signed.curl())"
        #expect(!text.contains("hunter2") && !text.contains("swordfish"))
        #expect(text.contains("AKIDEXAMPLE"))
        #expect(signed.head.fields["X-Amz-Security-Token"] == "swordfish")
    }

    @Test func `a session has one way to say who asks`() throws {
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test")
        configuration.credentials = .bearer(token: "t")
        let error = #expect(throws: NetworkError.self) { try configuration.sign(with: Self.signer()) }
        #expect(error?.code == .invalidConfiguration && configuration.interceptors.isEmpty)
        var other = HTTPSession.Configuration(baseURL: "https://api.test")
        #expect(throws: NetworkError.self) { try other.sign(with: Self.signer("")) }
    }

    @Test func `S3's rules hold for the services that are known to follow them, and for those that one says`() {
        #expect(AWSSigner.Service.s3.followsS3 && AWSSigner.Service("s3express").followsS3)
        #expect(!AWSSigner.Service("execute-api").followsS3 && AWSSigner.Service("store", followsS3: true).followsS3)
    }

    @Test func `a signature has the time at which its body has been hashed`() async throws {
        let steps = Mutex<[String]>([])
        var signer = Self.signer()
        signer.clock = {
            steps.withLock { $0.append("time") }
            return Date(timeIntervalSince1970: 0)
        }
        let body = RequestBody.replayable {
            steps.withLock { $0.append("body") }
            return AsyncThrowingStream { $0.finish() }
        }
        _ = try await signer.signed(Self.request.with { $0.body = body })
        #expect(steps.withLock { $0 } == ["body", "time"])
    }

    @Test func `a request that says who sends it stays as it is`() async throws {
        for (target, fields) in [
            ("/", ["Authorization": "Bearer t"]), ("/?X-Amz-Signature=1", [:]),
        ] as [(String, Fields)] {
            let head = RequestHead(
                method: .get, origin: .init(scheme: .https, host: "api.test"), target: target, fields: fields)
            let signed = try await Self.signer().signed(.init(head: head))
            #expect(signed.head.fields == fields)
        }
    }

    @Test func `fields that proxies change are not signed, and others may be left out`() async throws {
        var head = Self.request.head
        head.fields = ["User-Agent": "a", "Accept-Encoding": "gzip", "X-Trace": "1", "Host": "other.test"]
        var signer = Self.signer()
        let signed = try await signer.signed(.init(head: head)).head.fields["Authorization"]
        #expect(signed?.contains("SignedHeaders=host;x-amz-date;x-trace,") == true)
        signer.unsignedFields.insert("x-trace")
        let fewer = try await signer.signed(.init(head: head)).head.fields["Authorization"]
        #expect(fewer?.contains("SignedHeaders=host;x-amz-date,") == true)
        head.fields["Host"] = "api.test"
        #expect(try await signer.signed(.init(head: head)).head.fields["Authorization"] != fewer)
    }
}
