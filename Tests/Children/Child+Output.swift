public import Foundation

extension Child {
    /// What a program says of this input, and how it ended. Both are files: other children may hold on to a pipe, and
    /// whoever reads it would wait for them.
    public static func output(
        of program: String, _ arguments: [String], input: Data = Data(), in folder: String = "/"
    ) async throws -> (text: String, end: End) {
        let base = FileManager.default.temporaryDirectory.appending(path: "dunlin-child-\(UUID())")
        let (given, said) = (base.appendingPathExtension("in"), base.appendingPathExtension("out"))
        defer { for file in [given, said] { _ = Result { try FileManager.default.removeItem(at: file) } } }
        try input.write(to: given)
        try Data().write(to: said)
        let (source, sink) = (try FileHandle(forReadingFrom: given), try FileHandle(forWritingTo: said))
        let child = try Child(
            program, arguments, in: folder, environment: ownEnvironment,
            descriptors: [0: source.fileDescriptor, 1: sink.fileDescriptor, 2: sink.fileDescriptor])
        let end = await child.ended()
        withExtendedLifetime((source, sink)) {}
        return (String(decoding: try Data(contentsOf: said), as: UTF8.self), end)
    }

    /// SHA-256 by another implementation, in hexadecimal.
    public static func sha256(of bytes: Data) async throws -> String {
        let (text, end) = try await output(of: "openssl", ["dgst", "-sha256", "-r"], input: bytes)
        guard end.status == 0, !end.wasKilled else { throw Failure(description: "openssl: \(text)") }
        return String(text.prefix(64))
    }
}
