import Children
import DunlinTesting
import DunlinTypes
import Folders
import Foundation
import Glibc
import Testing

/// Debian's nginx, started here: everything it writes is in a folder of its own, and it is stopped by its pid.
///
/// The listening socket is bound here, on a port of the kernel's choice, and handed down as nginx hands its sockets to
/// a new binary. It stays open here as well, so that the port is still ours while nginx is stopped.
final class Nginx {
    let port: UInt16
    private let folder: Folder
    private let listener: Int32
    private var security: Security?
    private var pace: Pace
    /// The port of a server that it passes upgrades to.
    private let upstream: UInt16?
    private var process: Child?

    /// How fast /paced/ gives a connection what it asks for.
    enum Pace: String {
        /// As fast as four seconds for 16 MiB.
        case steady = "limit_rate 4m;"
        /// As the query says: `rate=1m`.
        case asked = "limit_rate $arg_rate;"
        /// Four MiB at once, and then so little that what is longer does not end within a test.
        case braked = "limit_rate_after 4m; limit_rate 16k;"
    }

    /// nil where nginx is not installed.
    static let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Runs a test against an nginx of its own, in clear text if nobody says how it is secured.
    static func with(
        _ security: Security? = nil, pace: Pace = .steady, upstream: UInt16? = nil,
        _ play: (Nginx) async throws -> Void
    ) async throws {
        let nginx = try Nginx(security, pace, upstream)
        defer { nginx.end() }
        do {
            try await play(nginx)
        } catch {
            Issue.record("nginx's log: \(nginx.log)")
            throw error
        }
    }

    private init(_ security: Security?, _ pace: Pace, _ upstream: UInt16?) throws {
        (listener, port) = try Self.listen()
        self.upstream = upstream
        folder = try Folder(with: "files/dav", "temp")
        self.security = security
        self.pace = pace
        do {
            try configure()
            try start()
        } catch {
            end()
            throw error
        }
    }

    var baseURL: String { "\(security == nil ? "http" : "https")://127.0.0.1:\(port)" }

    func publish(_ contents: [UInt8], as name: String) throws { try folder.write(contents, as: "files/\(name)") }

    func contents(of name: String) throws -> [UInt8] { try folder.contents("files/\(name)").array }

    var log: String { folder.text(of: "error.log") }

    // MARK: - The process

    func start() throws {
        guard process == nil else { return }
        process = try Child(
            try #require(Self.program), ["-p", folder.path, "-c", "nginx.conf", "-e", "error.log"], in: folder.path,
            environment: ["NGINX=\(Self.inherited);"], descriptors: [Self.inherited: listener])
    }

    /// A number that no descriptor of the tests has.
    private static let inherited: Int32 = 1000

    /// At once, connections and all.
    func stop() {
        process?.stop()
        process = nil
    }

    /// New workers take over; the old ones finish what they have.
    func reload() { process?.signal(SIGHUP) }

    /// Shows this from the next start or reload on.
    func secure(with identity: IssuedCertificate) throws {
        security?.identity = identity
        try configure()
    }

    /// Keeps to this pace from the next start or reload on.
    func keep(to pace: Pace) throws {
        self.pace = pace
        try configure()
    }

    private func end() {
        stop()
        close(listener)
    }

    private static func listen() throws -> (Int32, UInt16) {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_INET, type, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(number, address, size) == 0 && Glibc.listen(number, 512) == 0
                    && getsockname(number, address, &size) == 0
            }
        }
        guard number >= 0, isBound else {
            throw Child.Failure(description: "no socket: \(String(cString: strerror(errno)))")
        }
        return (number, UInt16(bigEndian: address.sin_port))
    }

    // MARK: - The configuration

    /// Of "s3cret, that is".
    private static let hashed = "$apr1$dunlinxx$GaBMhuOIpgIVTjTr40T9n0"

    private func configure() throws {
        for (name, contents) in try security?.files ?? [:] { try folder.write(contents, as: name) }
        // A password as it is, and one as openssl passwd -apr1 writes it.
        try folder.write("ada:{PLAIN}secret\neve:\(Self.hashed)\n", as: "users")
        try folder.write(configuration, as: "nginx.conf")
    }

    /// Upgrades are passed on under /passed/ and /brief/, where three seconds of silence end them. Under /plain/ the
    /// server behind is told of no upgrade. Under /3/ it is told by which protocol, over which connection and for which
    /// host a request came.
    private static func passing(to port: UInt16) -> String {
        let fields = ["Upgrade $http_upgrade", "Connection $http_connection"]
        let upgrading = "proxy_http_version 1.1; " + fields.map { "proxy_set_header \($0);" }.joined(separator: " ")
        return """
            location /passed/ { proxy_pass http://127.0.0.1:\(port)/; \(upgrading) }
            location /brief/ { proxy_pass http://127.0.0.1:\(port)/; \(upgrading) proxy_read_timeout 3s; }
            location /plain/ { proxy_pass http://127.0.0.1:\(port)/; proxy_http_version 1.1; }
            location /3/ {
                proxy_pass http://127.0.0.1:\(port);
                proxy_set_header Host $http_host;
                proxy_set_header Arrival "$server_protocol $connection";
            }
            """
    }

    private var protocols: String { security?.speaksHTTP2 == true ? "http2" : "" }

    private var configuration: String {
        """
        daemon off;
        worker_processes 1;
        \(getuid() == 0 ? "user root;" : "")
        pid nginx.pid;
        error_log error.log notice;
        events { worker_connections 512; }
        http {
            access_log off;
            sendfile on;
            default_type text/plain;
            keepalive_timeout 60s;
            client_body_temp_path temp/body;
            proxy_temp_path temp/proxy;
            fastcgi_temp_path temp/fastcgi;
            uwsgi_temp_path temp/uwsgi;
            scgi_temp_path temp/scgi;
            server {
                listen 127.0.0.1:\(port) \(security == nil ? "" : "ssl") \(protocols) backlog=512;
                \(security?.directives ?? "")
                root files;
                location = /hello { return 200 "hello"; }
                location = /once { keepalive_timeout 0; return 200 "$ssl_protocol $ssl_session_reused"; }
                location = /client { return 200 "$ssl_client_verify $ssl_client_s_dn"; }
                location = /group { return 200 "$ssl_curve"; }
                location = /thrice { keepalive_requests 3; return 200 "thrice"; }
                location = /moved { return 301 /hello#there; }
                location = /kept { client_max_body_size 64m; return 307 /dav/kept; }
                location = /round { return 302 /round; }
                location = /brief { keepalive_timeout 1s; return 200 "brief"; }
                location /zipped/ { alias files/; gzip on; gzip_min_length 0; gzip_types *; }
                location /replaced/ { alias files/; sub_filter_types *; sub_filter "in" "out"; sub_filter_once off; }
                location /slow/ { alias files/; limit_rate 64k; }
                location /paced/ { alias files/; \(pace.rawValue) }
                location /dav/ { dav_methods PUT DELETE; client_max_body_size 64m; }
                location /basic/ {
                    alias files/dav/;
                    auth_basic "files";
                    auth_basic_user_file users;
                    dav_methods PUT;
                    client_max_body_size 64m;
                }
                location /small/ { dav_methods PUT; client_max_body_size 1m; }
                \(upstream.map(Self.passing) ?? "")
            }
        }
        """
    }
}

extension Trait where Self == ConditionTrait {
    /// Skipped, loudly, where there is no nginx.
    static var needsNginx: Self {
        .enabled("nginx is not installed: run .ci/install test") { Nginx.program != nil }
    }
}
