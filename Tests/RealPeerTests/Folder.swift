import Foundation
import Testing

/// What a program reads and writes here; gone with its last holder.
final class Folder: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "dunlin-peer-\(UUID())").path

    init(with folders: String...) throws {
        for name in [""] + folders {
            try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
        }
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record("left behind: \(error)") }
    }

    /// What was there is replaced in one moment.
    func write(_ contents: some Sequence<UInt8>, as name: String) throws {
        try Data(contents).write(to: URL(filePath: "\(path)/\(name)"), options: .atomic)
    }

    func contents(of name: String) throws -> Data { try Data(contentsOf: URL(filePath: "\(path)/\(name)")) }

    /// Empty where there is no such file.
    func text(of name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: "\(path)/\(name)") ?? Data(), as: UTF8.self)
    }
}
