import DunlinTesting
import Folders
import Foundation
import Testing

/// Debian's nghttpx, configured as the article "Getting started" says, but for ports, the server and whom it trusts.
final class Nghttpx {
    private let daemon: Daemon

    /// nil where nghttpx is not installed.
    static let program = Daemon.program("/usr/sbin/nghttpx", "/usr/local/bin/nghttpx", "/usr/bin/nghttpx")

    /// `server` is what stands for Apple, as nghttpx writes host and port; `authority` who vouches for it.
    static func with(
        to server: String, trusting authority: CertificateAuthority, _ play: (Nghttpx) async throws -> Void
    ) async throws {
        let nghttpx = try await Nghttpx(server, authority)
        defer { nghttpx.daemon.end() }
        do {
            try await play(nghttpx)
        } catch {
            Issue.record("nghttpx's log: \(nghttpx.daemon.folder.text(of: "log"))")
            throw error
        }
    }

    var baseURL: String { "http://127.0.0.1:\(daemon.port)" }

    private init(_ server: String, _ authority: CertificateAuthority) async throws {
        let folder = try Folder()
        try folder.write(authority.pem, as: "authority.pem")
        let lines = try Self.article()
        daemon = try await Daemon(Self.program, in: folder) { ports in
            let changed = try Self.replacing("127.0.0.1,8087", by: "127.0.0.1,\(ports[0])", in: lines)
            // nginx listens on 127.0.0.1 alone; nghttpx compares no address with a certificate, only a name.
            // In one process it ends at once, and leaves none behind.
            let own = """
                cacert=\(folder.path)/authority.pem
                errorlog-file=\(folder.path)/log
                backend-address-family=IPv4
                single-process=yes

                """
            try folder.write(
                try Self.replacing("api.push.apple.com,443", by: server, in: changed) + own, as: "nghttpx.conf")
            return ["--conf=\(folder.path)/nghttpx.conf"]
        }
    }

    /// What the article has as a configuration.
    private static func article() throws -> String {
        let package = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let path = package.appending(path: "Sources/Dunlin/Dunlin.docc/GettingStarted.md")
        let parts = try String(contentsOf: path, encoding: .utf8).split(separator: "```conf\n")
        try #require(parts.count == 2, "one configuration")
        return String(try #require(parts[1].split(separator: "```").first))
    }

    private static func replacing(_ old: String, by new: String, in text: String) throws -> String {
        try #require(text.contains(old), "the article has \(old)")
        return text.replacing(old, with: new)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skipped, loudly, where there is no nghttpx.
    static var needsNghttpx: Self {
        .enabled("nghttpx is not installed: run .ci/install test") { Nghttpx.program != nil }
    }
}
