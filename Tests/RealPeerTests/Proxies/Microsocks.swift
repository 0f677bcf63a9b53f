import Folders
import Foundation
import Testing

/// Debian's microsocks: a SOCKS proxy that asks for a password.
final class Microsocks {
    static let (user, password) = ("ada", "s3cret: that is")

    private let daemon: Daemon

    /// nil where microsocks is not installed.
    static let program = Daemon.program("/usr/bin/microsocks", "/usr/local/bin/microsocks")

    static func with(_ play: (Microsocks) async throws -> Void) async throws {
        let microsocks = try await Microsocks()
        defer { microsocks.daemon.end() }
        try await play(microsocks)
    }

    private init() async throws {
        daemon = try await Daemon(Self.program, in: Folder()) { ports in
            ["-i", "127.0.0.1", "-p", "\(ports[0])", "-u", Self.user, "-P", Self.password]
        }
    }

    /// nil for nobody's name.
    func url(_ scheme: String, password: String?) -> String {
        let quoted = (password ?? "").addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return "\(scheme)://\(password == nil ? "" : "\(Self.user):\(quoted)@")127.0.0.1:\(daemon.port)"
    }

    func kill() { daemon.kill() }

    func start() async throws { try await daemon.start() }
}

extension Trait where Self == ConditionTrait {
    /// Skipped, loudly, where there is no microsocks.
    static var needsMicrosocks: Self {
        .enabled("microsocks is not installed: run .ci/install test") { Microsocks.program != nil }
    }
}
