import DunlinCommandLine
import Foundation
import Glibc

@testable import DunlinCLI

/// What the command writes, in files.
final class Paper {
    let results = FileManager.default.temporaryDirectory.appending(path: "dunlin-results-\(UUID())").path
    let remarks = FileManager.default.temporaryDirectory.appending(path: "dunlin-remarks-\(UUID())").path
    let output: Output

    init() {
        func open(_ path: String) -> Int32 { Glibc.open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600) }
        output = Output(of: "dunlin", results: open(results), remarks: open(remarks))
    }

    deinit {
        close(output.results)
        close(output.remarks)
        unlink(results)
        unlink(remarks)
    }

    var said: String { get throws { try String(contentsOfFile: results, encoding: .utf8) } }
    var remarked: String { get throws { try String(contentsOfFile: remarks, encoding: .utf8) } }

    static func lines(of path: String) throws -> [String] {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n")
            .map(String.init)
    }
}
