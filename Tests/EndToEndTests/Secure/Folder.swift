import Foundation
import Testing

/// Files of one test, gone with it.
final class Folder: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "dunlin-files-\(UUID())").path

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record("left behind: \(error)") }
    }

    /// What was there is replaced in one moment. Returns the file's path.
    @discardableResult
    func write(_ contents: some Sequence<UInt8>, as name: String) throws -> String {
        try Data(contents).write(to: URL(filePath: "\(path)/\(name)"), options: .atomic)
        return "\(path)/\(name)"
    }

    @discardableResult
    func write(_ text: String, as name: String) throws -> String { try write(text.utf8, as: name) }
}
