package import Dunlin
import Foundation

/// A folder of a test's own, gone when the test is over.
package final class Folder: Sendable {
    package let path = "\(FileManager.default.temporaryDirectory.path)/dunlin-\(UUID().uuidString)"

    package init() {}

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @discardableResult package func write(_ bytes: Bytes, to name: String) throws -> String {
        let file = "\(path)/\(name)"
        let parent = file.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try Data(bytes.array).write(to: URL(filePath: file))
        return file
    }

    package func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }
}
