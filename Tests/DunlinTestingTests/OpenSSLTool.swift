import Foundation
import Testing

/// The `openssl` command: a second opinion on what is made here.
struct OpenSSLTool: ~Copyable {
    /// What it printed, both outputs together, and how it ended; 124 means that it did not end by itself.
    struct Result {
        let text: String
        let status: Int32
    }

    private let folder: URL

    static let program = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "dunlin-openssl-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    deinit {
        do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("left behind: \(error)") }
    }

    /// Arguments may name the file as it is named here: it is where the command runs.
    func write(_ contents: some Sequence<UInt8>, as name: String) throws {
        try Data(contents).write(to: folder.appending(path: name))
    }

    func write(_ text: String, as name: String) throws { try write(text.utf8, as: name) }

    /// Runs the command with this input. It has a minute.
    func run(_ arguments: [String], input: String = "") async throws -> Result {
        try write(input, as: "input")
        try write("", as: "output")
        let output = try FileHandle(forWritingTo: folder.appending(path: "output"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/timeout")
        process.arguments = ["60", try #require(Self.program)] + arguments
        process.currentDirectoryURL = folder
        process.standardInput = try FileHandle(forReadingFrom: folder.appending(path: "input"))
        process.standardOutput = output
        process.standardError = output
        let status = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        let text = try Data(contentsOf: folder.appending(path: "output"))
        return Result(text: String(decoding: text, as: UTF8.self), status: status)
    }

    func run(_ arguments: String..., input: String = "") async throws -> Result {
        try await run(arguments, input: input)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skipped, loudly, where there is no openssl command.
    static var needsOpenSSLTool: Self {
        .enabled("openssl is not installed: run .ci/install test") { OpenSSLTool.program != nil }
    }
}
