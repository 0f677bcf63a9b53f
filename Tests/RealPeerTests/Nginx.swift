import Foundation
import Glibc
import Testing

/// Debian's nginx, started here: everything it writes is in a folder of its own, and it is stopped by its pid.
///
/// The listening socket is bound here, on a port of the kernel's choice, and handed down as nginx hands its sockets to
/// a new binary. It stays open here as well, so that the port is still ours while nginx is stopped.
final class Nginx {
    let port: UInt16
    private let folder: URL
    private let listener: Int32
    private var process: pid_t?

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// nil where nginx is not installed.
    static let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Runs a test against an nginx of its own.
    static func with(_ play: (Nginx) async throws -> Void) async throws {
        let nginx = try Nginx()
        defer { nginx.end() }
        do {
            try await play(nginx)
        } catch {
            Issue.record("nginx's log: \(nginx.log)")
            throw error
        }
    }

    private init() throws {
        (listener, port) = try Self.listen()
        folder = FileManager.default.temporaryDirectory.appending(path: "dunlin-nginx-\(UUID())")
        do {
            for name in ["files", "files/dav", "temp"] {
                let path = folder.appending(path: name)
                try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
            }
            try Data(configuration.utf8).write(to: folder.appending(path: "nginx.conf"))
            try start()
        } catch {
            end()
            throw error
        }
    }

    var baseURL: String { "http://127.0.0.1:\(port)" }

    func publish(_ contents: [UInt8], as name: String) throws {
        try Data(contents).write(to: folder.appending(path: "files/\(name)"))
    }

    func contents(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: "files/\(name)")))
    }

    var log: String {
        String(
            decoding: FileManager.default.contents(atPath: folder.appending(path: "error.log").path) ?? Data(),
            as: UTF8.self)
    }

    // MARK: - The process

    func start() throws {
        guard process == nil else { return }
        let program = try #require(Self.program)
        let arguments = [program, "-p", folder.path, "-c", "nginx.conf", "-e", "error.log"]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor: Int32 in 0...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        // A duplicate onto itself would keep its close-on-exec flag where the C library is old.
        posix_spawn_file_actions_adddup2(&actions, listener, Self.inherited)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = [strdup("NGINX=\(Self.inherited);"), nil]
        defer { for word in words + environment { free(word) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, program, &actions, nil, &words, &environment)
        guard code == 0 else { throw Failure(description: "nginx did not start: \(String(cString: strerror(code)))") }
        process = pid
    }

    /// A number that no descriptor of the tests has.
    private static let inherited: Int32 = 1000

    /// At once, connections and all.
    func stop() {
        guard let pid = process else { return }
        process = nil
        kill(pid, SIGTERM)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    }

    /// New workers take over; the old ones finish what they have.
    func reload() {
        if let process { kill(process, SIGHUP) }
    }

    private func end() {
        stop()
        close(listener)
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            Issue.record("nginx's folder stays behind: \(error)")
        }
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
        guard number >= 0, isBound else { throw Failure(description: "no socket: \(String(cString: strerror(errno)))") }
        return (number, UInt16(bigEndian: address.sin_port))
    }

    // MARK: - The configuration

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
                listen 127.0.0.1:\(port) backlog=512;
                root files;
                location = /hello { return 200 "hello"; }
                location = /thrice { keepalive_requests 3; return 200 "thrice"; }
                location = /brief { keepalive_timeout 1s; return 200 "brief"; }
                location /zipped/ { alias files/; gzip on; gzip_min_length 0; gzip_types *; }
                location /replaced/ { alias files/; sub_filter_types *; sub_filter "in" "out"; sub_filter_once off; }
                location /slow/ { alias files/; limit_rate 64k; }
                location /dav/ { dav_methods PUT DELETE; client_max_body_size 64m; }
                location /small/ { dav_methods PUT; client_max_body_size 1m; }
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
