import Children
import DunlinTesting
import Folders
import Foundation
import Glibc
import Testing

/// `openssl s_server`, started here on a port of the kernel's choice: OpenSSL's own idea of a server, which does what
/// few servers can be told to do. It serves one connection after the other, and shows no intermediates.
///
/// With `-WWW` it sends the files of its folder as they are, with `-HTTP` as responses that begin with their heads.
/// Without, a test says what it answers, and its keys work: `K` changes the keys, `r` asks to renegotiate.
final class OpenSSLServer {
    let port: UInt16
    let folder: Folder
    private let process: Child
    /// Our end of its standard input.
    private let input: Int32

    /// nil where there is no openssl command.
    static let program = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Runs a test against a server that shows this. `files` are put into its folder first.
    static func with(
        _ identity: IssuedCertificate, _ options: [String], files: [String: [UInt8]] = [:],
        _ play: (OpenSSLServer) async throws -> Void
    ) async throws {
        let server = try await OpenSSLServer(identity, options, files)
        defer { server.end() }
        do {
            try await play(server)
        } catch {
            Issue.record("openssl's output: \(server.output.suffix(4000))")
            throw error
        }
    }

    private init(_ identity: IssuedCertificate, _ options: [String], _ files: [String: [UInt8]]) async throws {
        folder = try Folder()
        for (name, contents) in files { try folder.write(contents, as: name) }
        try folder.write(identity.pem, as: "own.pem")
        try folder.write(identity.privateKeyPEM, as: "key.pem")
        (process, input) = try Self.start(in: folder, options)
        do {
            port = try await Self.port(toldIn: folder)
        } catch {
            process.stop()
            close(input)
            throw error
        }
    }

    private static func start(in folder: Folder, _ options: [String]) throws -> (Child, Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Child.Failure(description: "no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let output = open("\(folder.path)/output", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
        defer {
            close(ends[0])
            close(output)
        }
        let arguments = ["s_server", "-accept", "127.0.0.1:0", "-cert", "own.pem", "-key", "key.pem"]
        do {
            let process = try Child(
                try #require(program), arguments + options, in: folder.path,
                descriptors: [0: ends[0], 1: output, 2: output])
            return (process, ends[1])
        } catch {
            close(ends[1])
            throw error
        }
    }

    private static func port(toldIn folder: Folder) async throws -> UInt16 {
        var port: UInt16?
        try await eventually("openssl listens") {
            let line = folder.text(of: "output").split(separator: "\n").first { $0.hasPrefix("ACCEPT 127.0.0.1:") }
            port = line.flatMap { UInt16($0.split(separator: ":")[1]) }
            return port != nil
        }
        return try #require(port)
    }

    private func end() {
        kill()
        close(input)
    }

    // MARK: - While it runs

    private var hasEnded = false

    var baseURL: String { "https://127.0.0.1:\(port)" }

    /// What it printed, what it received among it.
    var output: String { folder.text(of: "output") }

    /// Ends it at once, with nothing said.
    func kill() {
        if !hasEnded { process.stop(by: SIGKILL) }
        hasEnded = true
    }

    /// Sends this to the client, or presses a key; returns when the server has taken it. It takes as much as there is
    /// in one go, so what is said next is another go.
    func say(_ text: String) async throws {
        let bytes = Array(text.utf8)
        try #require(write(input, bytes, bytes.count) == bytes.count)
        try await eventually("openssl has heard us") {
            var waiting: Int32 = 1
            try #require(ioctl(input, UInt(FIONREAD), &waiting) == 0)
            return waiting == 0
        }
    }

    /// Returns when it has printed this so many times.
    func prints(_ text: String, times: Int = 1) async throws {
        try await eventually("openssl prints \(text)") {
            output.split(separator: text, omittingEmptySubsequences: false).count > times
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skipped, loudly, where there is no openssl command.
    static var needsOpenSSL: Self {
        .enabled("openssl is not installed: run .ci/install test") { OpenSSLServer.program != nil }
    }
}
