import Foundation

/// A folder of a test's own, gone when the test is over.
final class Folder: Sendable {
    let path = NSTemporaryDirectory() + "dunlin-" + UUID().uuidString

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of the file.
    func write(_ text: String, to name: String) throws -> String {
        let file = URL(filePath: "\(path)/\(name)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }
}
