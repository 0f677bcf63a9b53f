import Folders
import Testing

/// Debian's lighttpd, which knows Digest authentication by three algorithms. Everything it writes is in a folder of its
/// own.
final class Lighttpd {
    /// One user, and the folders that ask for the password in different ways.
    static let (user, password) = ("Mufasa", "Circle of Life")

    private let daemon: Daemon

    /// nil where lighttpd is not installed.
    static let program = Daemon.program("/usr/sbin/lighttpd", "/usr/local/sbin/lighttpd", "/usr/bin/lighttpd")

    static func with(_ play: (Lighttpd) async throws -> Void) async throws {
        let server = try await Lighttpd()
        defer { server.daemon.end() }
        do {
            try await play(server)
        } catch {
            Issue.record("lighttpd's log: \(server.daemon.folder.text(of: "log"))")
            throw error
        }
    }

    var baseURL: String { "http://127.0.0.1:\(daemon.port)" }

    private init() async throws {
        let folder = try Folder(with: "files/MD5", "files/SHA-256", "files/SHA-512-256", "files/basic")
        try folder.write("\(Self.user):\(Self.password)\n", as: "users")
        for name in ["MD5", "SHA-256", "SHA-512-256", "basic"] {
            try folder.write("in \(name)", as: "files/\(name)/page")
        }
        daemon = try await Daemon(Self.program, in: folder) { ports in
            try folder.write(Self.configuration(ports[0], folder.path), as: "lighttpd.conf")
            return ["-D", "-f", "\(folder.path)/lighttpd.conf"]
        }
    }

    private static func configuration(_ port: UInt16, _ path: String) -> String {
        let digests = ["MD5", "SHA-256", "SHA-512-256"].map { name in
            """
            "/\(name)/" => ("method" => "digest", "realm" => "\(name)", "algorithm" => "\(name)",
                "require" => "valid-user"),
            """
        }
        return """
            server.modules = ("mod_auth", "mod_authn_file")
            server.bind = "127.0.0.1"
            server.port = \(port)
            server.document-root = "\(path)/files"
            server.errorlog = "\(path)/log"
            auth.backend = "plain"
            auth.backend.plain.userfile = "\(path)/users"
            auth.require = (
            \(digests.joined(separator: "\n"))
            "/basic/" => ("method" => "basic", "realm" => "plain", "require" => "valid-user")
            )
            """
    }
}

extension Trait where Self == ConditionTrait {
    static var needsLighttpd: Self {
        .enabled("lighttpd is not installed: run .ci/install test") { Lighttpd.program != nil }
    }
}
