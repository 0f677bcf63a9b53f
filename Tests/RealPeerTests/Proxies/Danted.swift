import DunlinTesting
import Folders
import Foundation
import Glibc
import Testing

/// Debian's dante-server: a SOCKS proxy that asks for no password, by IPv4 and IPv6. One port of this machine's it
/// lets nobody get to.
final class Danted {
    /// Where nobody may go.
    let forbidden: UInt16
    private let daemon: Daemon

    /// nil where dante-server is not installed.
    static let program = Daemon.program("/usr/sbin/danted", "/usr/local/sbin/danted")

    static func with(_ play: (Danted) async throws -> Void) async throws {
        let danted = try await Danted()
        defer { danted.daemon.end() }
        do {
            try await play(danted)
        } catch {
            Issue.record("danted's log: \(danted.log)")
            throw error
        }
    }

    private init() async throws {
        let folder = try Folder()
        let forbidden = try LocalPort.free(1)[0]
        self.forbidden = forbidden
        daemon = try await Daemon(Self.program, in: folder) { ports in
            try folder.write(Self.configuration(ports[0], folder.path, forbidden), as: "danted.conf")
            return ["-f", "\(folder.path)/danted.conf"]
        }
    }

    /// `host` is one of its own addresses.
    func url(_ scheme: String, at host: String = "127.0.0.1") -> String { "\(scheme)://\(host):\(daemon.port)" }

    var log: String { daemon.folder.text(of: "log") }

    private static func configuration(_ port: UInt16, _ folder: String, _ forbidden: UInt16) -> String {
        let user = getuid() == 0 ? "nobody" : NSUserName()
        return """
            logoutput: \(folder)/log
            internal: 127.0.0.1 port = \(port)
            internal: ::1 port = \(port)
            external: 127.0.0.1
            external: ::1
            external.rotation: route
            clientmethod: none
            socksmethod: none
            user.privileged: \(user)
            user.unprivileged: \(user)
            client pass { from: 0/0 to: 0/0 }
            socks block { from: 0/0 to: 0/0 port = \(forbidden) }
            socks pass { from: 0/0 to: 0/0 log: connect error }
            """
    }
}

extension Trait where Self == ConditionTrait {
    /// Skipped, loudly, where there is no danted.
    static var needsDanted: Self {
        .enabled("dante-server is not installed: run .ci/install test") { Danted.program != nil }
    }
}
