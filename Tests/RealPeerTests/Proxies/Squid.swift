import Dunlin
import DunlinTesting
import Folders
import Foundation
import Testing

/// Debian's squid-openssl, with a port in clear text and one for TLS. It asks who somebody is by helpers of its own.
final class Squid {
    enum Login: Sendable {
        case none, basic
        /// With a nonce that is good for so many requests.
        case digest(uses: Int)
    }

    /// One line of its log.
    struct Entry {
        let clientPort: Int
        let status: Int
        let method: String
        let target: String
        /// The fields of the request, as they came.
        let fields: String
    }

    static let (user, password) = ("eve", "s3cret, that is")
    /// This machine, under a name that only squid knows; and one that it lets nobody ask for.
    static let (origin, denied) = ("origin.test", "denied.test")

    let authority: CertificateAuthority
    private let daemon: Daemon

    /// nil where no squid is installed that speaks TLS.
    static let program = Daemon.program("/usr/sbin/squid").flatMap { program in
        let contents = FileManager.default.contents(atPath: program) ?? Data()
        return contents.range(of: Data("--with-openssl".utf8)) == nil ? nil : program
    }

    static func with(_ login: Login = .none, _ play: (Squid) async throws -> Void) async throws {
        let squid = try await Squid(login)
        defer { squid.kill() }
        do {
            try await play(squid)
        } catch {
            let logs = ["access.log", "cache.log"].map { squid.daemon.folder.text(of: $0) }
            Issue.record("squid's logs: \(logs)")
            throw error
        }
    }

    private init(_ login: Login) async throws {
        authority = try CertificateAuthority()
        let identity = try authority.issue(.server("127.0.0.1"))
        let folder = try Folder()
        try folder.write(identity.chainPEM, as: "chain.pem")
        try folder.write(identity.privateKeyPEM, as: "key.pem")
        try folder.write("127.0.0.1 \(Self.origin) \(Self.denied)\n", as: "hosts")
        try folder.write("\(Self.user):\(Self.hashed)\n", as: "hashed")
        try folder.write("\(Self.user):\(Self.password)\n", as: "plain")
        daemon = try await Daemon(Self.program, in: folder, ports: 2) { ports in
            try folder.write(Self.configuration(ports, folder.path, login), as: "squid.conf")
            return ["-N", "-n", Self.name(ports[0]), "-f", "\(folder.path)/squid.conf"]
        }
    }

    func url(_ scheme: String, user: String? = nil, password: String = "") -> String {
        let port = scheme == "https" ? daemon.ports[1] : daemon.ports[0]
        let quoted = password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return "\(scheme)://\(user.map { "\($0):\(quoted)@" } ?? "")127.0.0.1:\(port)"
    }

    // MARK: - The process

    /// At once, with every connection; asked to end, it takes a second for it.
    func kill() {
        daemon.kill()
        removeMemory()
    }

    func start() async throws { try await daemon.start() }

    /// What tells its shared memory from that of another.
    private static func name(_ port: UInt16) -> String { "dunlin\(port)" }

    /// It does not tidy up when it is killed.
    private func removeMemory() {
        let (folder, own) = ("/dev/shm", Self.name(daemon.ports[0]) + "-")
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix(own) {
                try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
            }
        } catch {
            Issue.record("left behind in \(folder): \(error)")
        }
    }

    // MARK: - The log

    /// What it has answered, a tunnel once it has ended, when so many requests were let through.
    func entries(_ count: Int) async throws -> [Entry] {
        var entries: [Entry] = []
        try await eventually("squid has noted \(count) requests") {
            entries = daemon.folder.text(of: "access.log").split(separator: "\n").compactMap(Self.entry)
            return entries.count { $0.status == 200 } >= count
        }
        return entries
    }

    private static func entry(_ line: Substring) -> Entry? {
        let words = line.split(separator: " ")
        // A connection on which nothing was said has no method.
        guard words.count == 5, let port = Int(words[0]), let status = Int(words[1]), words[2] != "-" else {
            return nil
        }
        return Entry(
            clientPort: port, status: status, method: String(words[2]), target: String(words[3]),
            fields: words[4].removingPercentEncoding ?? "")
    }

    // MARK: - The configuration

    /// Of the password.
    private static let hashed = "$apr1$dunlinxx$GaBMhuOIpgIVTjTr40T9n0"

    /// Squid takes a full buffer for the end of the connection, where a body comes faster than the origin takes it: so
    /// no body fills it.
    private static func configuration(_ ports: [UInt16], _ folder: String, _ login: Login) -> String {
        """
        http_port 127.0.0.1:\(ports[0])
        https_port 127.0.0.1:\(ports[1]) tls-cert=\(folder)/chain.pem tls-key=\(folder)/key.pem
        \(rules(login, folder))
        hosts_file \(folder)/hosts
        cache deny all
        cache_mem 4 MB
        memory_cache_shared off
        client_request_buffer_max_size 128 MB
        shutdown_lifetime 0 seconds
        pinger_enable off
        netdb_filename none
        pid_filename none
        visible_hostname squid.test
        coredump_dir \(folder)
        cache_log \(folder)/cache.log
        strip_query_terms off
        logformat all %>p %>Hs %rm %ru %>h
        access_log stdio:\(folder)/access.log all
        """
    }

    private static func rules(_ login: Login, _ folder: String) -> String {
        let denied = "acl denied dstdomain \(Self.denied)\nhttp_access deny denied\n"
        let known = "acl known proxy_auth REQUIRED\nhttp_access allow known\nhttp_access deny all"
        switch login {
        case .none: return denied + "http_access allow all"
        case .basic:
            return """
                \(denied)
                auth_param basic program /usr/lib/squid/basic_ncsa_auth \(folder)/hashed
                auth_param basic children 1 startup=1 idle=1
                auth_param basic realm squid
                \(known)
                """
        case .digest(let uses):
            return """
                \(denied)
                auth_param digest program /usr/lib/squid/digest_file_auth \(folder)/plain
                auth_param digest children 1 startup=1 idle=1
                auth_param digest realm squid
                auth_param digest nonce_max_count \(uses)
                \(known)
                """
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skipped, loudly, where there is no squid that speaks TLS.
    static var needsSquid: Self {
        .enabled("squid-openssl is not installed: run .ci/install test") { Squid.program != nil }
    }
}
