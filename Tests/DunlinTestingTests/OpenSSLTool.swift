import Children
import Folders
import Foundation
import Testing

/// The `openssl` command: a second opinion on what is made here.
struct OpenSSLTool: ~Copyable {
    /// What it printed, both outputs together, and how it ended; 124 means that it did not end by itself.
    struct Result {
        let text: String
        let status: Int32
    }

    private let folder: Folder

    static let program = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    init() throws { folder = try Folder() }

    /// Arguments may name the file as it is named here: it is where the command runs.
    func write(_ contents: some Sequence<UInt8>, as name: String) throws {
        try folder.write(contents, as: name)
    }

    func write(_ text: String, as name: String) throws { try write(text.utf8, as: name) }

    /// Runs the command with this input. It has a minute.
    func run(_ arguments: [String], input: String = "") async throws -> Result {
        try write(input, as: "input")
        try write("", as: "output")
        let (source, sink) = (
            try FileHandle(forReadingFrom: URL(filePath: "\(folder.path)/input")),
            try FileHandle(forWritingTo: URL(filePath: "\(folder.path)/output"))
        )
        let child = try Child(
            "/usr/bin/timeout", ["60", try #require(Self.program)] + arguments, in: folder.path,
            environment: Child.ownEnvironment,
            descriptors: [0: source.fileDescriptor, 1: sink.fileDescriptor, 2: sink.fileDescriptor])
        let status = await child.ended().status
        withExtendedLifetime((source, sink)) {}
        return Result(text: folder.text(of: "output"), status: status)
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
