import Children
import DunlinTesting
import Foundation
import Glibc
import Testing

/// Debian's lighttpd, which knows Digest authentication by three algorithms. Everything it writes is in a folder of its
/// own, and it is stopped by its pid.
final class Lighttpd {
    /// One user, and the folders that ask for the password in different ways.
    static let (user, password) = ("Mufasa", "Circle of Life")

    let port: UInt16
    private let folder: Folder
    private let process: Child

    /// nil where lighttpd is not installed.
    static let program = ["/usr/sbin/lighttpd", "/usr/local/sbin/lighttpd", "/usr/bin/lighttpd"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    static func with(_ play: (Lighttpd) async throws -> Void) async throws {
        let server = try await Lighttpd()
        defer { server.process.stop() }
        do {
            try await play(server)
        } catch {
            Issue.record("lighttpd's log: \(server.folder.text(of: "log"))")
            throw error
        }
    }

    var baseURL: String { "http://127.0.0.1:\(port)" }

    /// It cannot be handed a socket, and so somebody may take the port before it does: then there is another.
    private init() async throws {
        folder = try Folder(with: "files/MD5", "files/SHA-256", "files/SHA-512-256", "files/basic")
        try folder.write("\(Self.user):\(Self.password)\n".utf8, as: "users")
        for name in ["MD5", "SHA-256", "SHA-512-256", "basic"] {
            try folder.write("in \(name)".utf8, as: "files/\(name)/page")
        }
        for _ in 0..<5 {
            let port = try Self.freePort()
            try folder.write(Self.configuration(port, folder.path).utf8, as: "lighttpd.conf")
            let process = try Child(
                try #require(Self.program), ["-D", "-f", "\(folder.path)/lighttpd.conf"], in: folder.path)
            if await Self.answers(port) {
                (self.port, self.process) = (port, process)
                return
            }
            process.stop()
        }
        throw Child.Failure(description: "lighttpd does not answer: \(folder.text(of: "log"))")
    }

    private static func answers(_ port: UInt16) async -> Bool {
        do {
            try await eventually("it answers", within: .seconds(20)) { try Self.connects(port) }
            return true
        } catch {
            return false
        }
    }

    private static func freePort() throws -> UInt16 {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(number) }
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var address = address(0)
        let isBound = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, size) == 0 && getsockname(number, $0, &size) == 0
            }
        }
        guard isBound else { throw Child.Failure(description: "no port") }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func connects(_ port: UInt16) throws -> Bool {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(number) }
        var address = address(port)
        return withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
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
