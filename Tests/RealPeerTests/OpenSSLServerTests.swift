import Dunlin
import DunlinTesting
import Folders
import LeakChecking
import Testing

/// What `openssl s_server` and Dunlin make of each other.
@Suite(.needsOpenSSL, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `Against openssl s_server` {
    enum Version: String, CaseIterable, Sendable {
        case v1_2 = "-tls1_2"
        case v1_3 = "-tls1_3"

        var name: String { self == .v1_2 ? "TLS 1.2" : "TLS 1.3" }
    }

    private static func with(
        _ version: Version?, _ options: [String], files: [String: [UInt8]] = [:],
        showing template: CertificateTemplate = .server("127.0.0.1"),
        session configure: (inout HTTPSession.Configuration) throws -> Void = { _ in },
        _ play: (OpenSSLServer, HTTPSession) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        try await OpenSSLServer.with(
            try authority.issue(template), (version.map { [$0.rawValue] } ?? []) + options, files: files
        ) { server in
            try await SecureSession.with(authority, at: server.baseURL, configure) { session in
                try await play(server, session)
            }
        }
    }

    private static let page = Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npage".utf8)

    // MARK: Handshakes

    @Test(
        arguments: Version.allCases,
        [.p256, .p384, .ed25519, .rsa2048, .rsa3072] as [CertificateAuthority.Key.Kind])
    func `a server of openssl is believed whatever its key`(version: Version, kind: CertificateAuthority.Key.Kind)
        async throws
    {
        try await Self.with(
            version, ["-HTTP"], files: ["page": Self.page], showing: .server("127.0.0.1").with(kind)
        ) { _, session in
            let response = try await session.get("page", as: .string)
            #expect(response.value == "page")
            #expect(response.security?.version == version.name)
        }
    }

    /// What lets it resume, and whether it does.
    @Test(
        arguments: Version.allCases,
        [([], true), (["-no_ticket"], true), (["-no_ticket", "-no_cache"], false)] as [([String], Bool)])
    func `a session with openssl is resumed by tickets and by its cache`(
        version: Version, memory: (options: [String], resumes: Bool)
    ) async throws {
        try await Self.with(version, ["-HTTP"] + memory.options, files: ["page": Self.page]) { _, session in
            for index in 0..<4 {
                let response = try await session.get("page", as: .string)
                #expect(response.value == "page")
                #expect(response.security?.isResumed == (index > 0 && memory.resumes))
            }
        }
    }

    /// It takes only what we send no key for at first, so it asks for another hello.
    @Test(arguments: ["P-256", "P-384", "P-521"])
    func `a server that asks for another key share gets it`(group: String) async throws {
        try await Self.with(
            .v1_3, ["-HTTP", "-groups", group, "-msg", "-msgfile", "messages"], files: ["page": Self.page]
        ) { server, session in
            for index in 0..<2 {
                let response = try await session.get("page", as: .string)
                #expect(response.value == "page")
                #expect(response.security?.isResumed == (index > 0))
            }
            // Two of each connection's.
            let hellos = server.folder.text(of: "messages").split(separator: "ClientHello").count - 1
            #expect(hellos == 4)
        }
    }

    @Test func `a server of an older version is refused in words`() async throws {
        try await Self.with(
            nil, ["-HTTP", "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], files: ["page": Self.page]
        ) { _, session in
            let error = try await NetworkError.thrown { _ = try await session.get("page", as: .bytes) }
            #expect(error.code == .secureConnectionFailed)
            #expect(error.reason.contains("it speaks none of the TLS versions offered"), "\(error.reason)")
        }
    }

    @Test(arguments: Version.allCases)
    func `a server with a wrong name or an unknown issuer is refused, and gets the alert`(version: Version) async throws
    {
        try await Self.with(version, ["-HTTP"], showing: .server("a.test")) { server, session in
            let error = try await NetworkError.thrown { _ = try await session.get("page", as: .bytes) }
            #expect(error.reason == "the certificate is for a.test, not for 127.0.0.1")
            try await server.prints("alert")
        }
        let other = try CertificateAuthority()
        try await Self.with(
            version, ["-HTTP"], session: { $0.tls.roots = .only([.bytes(other.certificate.der)]) }
        ) { server, session in
            let error = try await NetworkError.thrown { _ = try await session.get("page", as: .bytes) }
            #expect(error.trustRefusal?.reason == .unknownIssuer)
            try await server.prints("alert")
        }
    }

    // MARK: Who we are

    @Test(arguments: Version.allCases, [("-verify", true), ("-Verify", false)] as [(String, Bool)])
    func `a client certificate is accepted or refused as the server demands it`(
        version: Version, demand: (option: String, isOptional: Bool)
    ) async throws {
        let clients = try CertificateAuthority(.authority("Clients"))
        let options = [
            "-HTTP", demand.option, "3", "-verify_return_error", "-no_ticket", "-no_cache", "-CAfile", "clients.pem",
        ]
        let files = ["page": Self.page, "clients.pem": Array(clients.pem.utf8)]
        let strangers = try CertificateAuthority(.authority("Strangers"))
        for issuer in [nil, clients, strangers] {
            try await Self.with(
                version, options, files: files,
                session: { configuration in
                    guard let issuer else { return }
                    configuration.tls.identity = try SecureSession.identity(issuer.issue(.client("Ada")))
                }
            ) { server, session in
                let isKnown = issuer.map { $0.pem == clients.pem } ?? demand.isOptional
                if isKnown {
                    #expect(try await session.get("page", as: .string).value == "page")
                    return
                }
                let error = try await NetworkError.thrown { _ = try await session.get("page", as: .bytes) }
                #expect(error.code == .secureConnectionFailed)
                let words = issuer == nil ? "the server requires a client certificate and got none" : "unknown_ca"
                #expect(error.reason.contains(words), "\(error.reason)")
            }
        }
    }

    // MARK: Content

    @Test(arguments: Version.allCases)
    func `sixty-four MiB come as they are, and a body that is cut off is an error`(version: Version) async throws {
        let file = Noise.bytes(64 << 20)
        try await Self.with(version, ["-WWW"], files: ["file": file]) { server, session in
            // Its length is not told: the end of the connection is the end of the body.
            let response = try await session.get("file", as: .bytes)
            #expect(Noise.isEqual(response.value.array, file))
            let error = try await NetworkError.thrown {
                try await session.withResponse(from: "file") { response in
                    for try await _ in response.body { server.kill() }
                }
            }
            #expect(error.code == .connectionClosed)
            #expect(error.requestMayHaveBeenSent)
        }
    }

    @Test(arguments: Version.allCases)
    func `a connection is kept, and dropped when the server closes it`(version: Version) async throws {
        try await Self.with(version, []) { server, session in
            for index in 0..<3 {
                async let response = session.get("item/\(index)", as: .string)
                try await server.prints("GET /item/\(index) HTTP/1.1")
                try await server.say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(index)")
                #expect(try await response.value == "\(index)")
            }
            #expect(session.connections.open == 1)
            try await server.say("q\n")
            try await eventually("its end is noticed") { session.connections.open == 0 }
        }
    }

    /// `K` asks us to change ours as well, `k` does not.
    @Test(arguments: ["K", "k"])
    func `a server may change its keys in the middle of a body`(key: String) async throws {
        try await Self.with(.v1_3, []) { server, session in
            for index in 0..<2 {
                let task = Task {
                    try await session.withResponse(from: "\(index)") { response in
                        try await response.body.reduce("") { $0 + String($1) }
                    }
                }
                try await server.prints("GET /\(index) HTTP/1.1")
                try await server.say("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n01234")
                for _ in 0..<3 {
                    try await server.say("\(key)\n")
                    try await server.say("56789")
                }
                #expect(try await task.value == "01234567895678956789")
            }
            #expect(session.connections.open == 1)
        }
    }

    @Test(arguments: ["r", "R"])
    func `a server's wish to renegotiate is declined, and the error says so`(key: String) async throws {
        try await Self.with(.v1_2, []) { server, session in
            let task = Task { try await session.get("x", as: .string).value }
            try await server.prints("GET /x HTTP/1.1")
            try await server.say("\(key)\n")
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .secureConnectionFailed)
            #expect(error.reason.contains("renegotiate"), "\(error.reason)")
            #expect(!error.reason.contains("ciphers"), "\(error.reason)")
            #expect(error.requestMayHaveBeenSent)
        }
    }
}
