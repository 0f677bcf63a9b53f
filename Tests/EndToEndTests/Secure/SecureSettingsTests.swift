import Dunlin
import DunlinTesting
import Folders
import Foundation
import Synchronization
import Testing

/// What a session says about how it is secured is what happens.
@Suite(.timeLimit(.minutes(10)))
struct `TLS settings of a session` {
    private typealias Change = @Sendable (inout HTTPSession.TLS) -> Void

    private static let changes: [(change: Change, version: String, cipher: String)] = [
        ({ _ in }, "TLS 1.3", "TLS_AES_128_GCM_SHA256"),
        ({ $0.suites = "TLS_CHACHA20_POLY1305_SHA256" }, "TLS 1.3", "TLS_CHACHA20_POLY1305_SHA256"),
        ({ $0.suites = "TLS_AES_256_GCM_SHA384" }, "TLS 1.3", "TLS_AES_256_GCM_SHA384"),
        ({ $0.versions = .tls12 ... .tls12 }, "TLS 1.2", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"),
        (
            {
                $0.versions = .tls12 ... .tls12
                $0.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256"
            }, "TLS 1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
        ),
    ]

    @Test(arguments: changes.indices)
    func `TLS settings decide about versions and ciphers`(index: Int) async throws {
        let (change, version, cipher) = Self.changes[index]
        try await SecureStage.with(configure: { configuration, _ in change(&configuration.tls) }) {
            (stage: SecureStage) async throws in
            stage.server.respond { _ in .response() }
            let security = try await stage.session.get("x", as: .bytes).metrics.hops.last?.security
            #expect(security?.version == version)
            #expect(security?.cipher == cipher)
        }
    }

    @Test(arguments: [("P-384", "P-384", true), ("P-384:P-256", "P-256", true), ("P-384", "X25519", false)])
    func `TLS settings decide about key exchange groups`(ours: String, theirs: String, isShared: Bool) async throws {
        try await SecureStage.with(
            tolerating: true, tls: { tls, _ in tls.groups = theirs },
            configure: { configuration, _ in configuration.tls.groups = ours }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response() }
            if isShared {
                _ = try await stage.session.get("x", as: .bytes)
            } else {
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
                #expect(error.code == .secureConnectionFailed)
            }
        }
    }

    @Test func `TLS sessions are not resumed if the settings say so`() async throws {
        try await SecureStage.with(configure: { configuration, _ in configuration.tls.resumesSessions = false }) {
            (stage: SecureStage) async throws in
            stage.server.respond { _ in .response().closingAfter }
            for _ in 0..<2 { _ = try await stage.session.get("x", as: .bytes) }
            #expect(stage.server.handshakes.map(\.wasResumed) == [false, false])
        }
    }

    /// The secrets of a connection are in nobody's file unless somebody asked, and then that is told.
    @Test func `secrets are written to a file only if the settings say so, with a warning`() async throws {
        let folder = try Folder()
        let path = "\(folder.path)/keys.log"
        let told = Mutex<[HTTPSession.SecurityWarning.Kind]>([])
        for isLogged in [false, true] {
            try await SecureStage.with(configure: { configuration, _ in
                configuration.securityWarningHandler = { warning in told.withLock { $0.append(warning.kind) } }
                if isLogged { configuration.tls.keyLog = .file(path) }
            }) { (stage: SecureStage) async throws in
                stage.server.respond { _ in .response() }
                _ = try await stage.session.get("x", as: .bytes)
            }
            #expect(FileManager.default.fileExists(atPath: path) == isLogged)
            #expect(told.withLock { $0 } == (isLogged ? [.secretsAreLogged] : []))
        }
        let lines = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n")
        let labels = ["CLIENT_HANDSHAKE_TRAFFIC_SECRET ", "SERVER_TRAFFIC_SECRET_0 "]
        #expect(labels.allSatisfy { label in lines.contains { $0.hasPrefix(label) } })
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        #expect(facts[.posixPermissions] as? Int == 0o600, "nobody else reads it")
    }
}
