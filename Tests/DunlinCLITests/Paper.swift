import DunlinCommandLine
import Folders
import Foundation
import Glibc

@testable import DunlinCLI

/// What the command writes, in files.
final class Paper: Sendable {
    private let folder: Folder
    let results: String
    let remarks: String
    let output: Output

    /// A pipe without a reader. Writing into one ends a program, but not all tests.
    private static let nowhere: Int32 = {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        close(ends[0])
        return ends[1]
    }()

    init() throws {
        _ = Self.nowhere
        folder = try Folder()
        (results, remarks) = ("\(folder.path)/results", "\(folder.path)/remarks")
        func open(_ path: String) -> Int32 { Glibc.open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600) }
        output = Output(of: "dunlin", results: open(results), remarks: open(remarks))
    }

    /// The descriptors stay in use: what somebody writes too late must not reach another test's file.
    deinit {
        dup2(Self.nowhere, output.results)
        dup2(Self.nowhere, output.remarks)
    }

    var said: String { get throws { try String(contentsOfFile: results, encoding: .utf8) } }
    var remarked: String { get throws { try String(contentsOfFile: remarks, encoding: .utf8) } }

    static func lines(of path: String) throws -> [String] {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n")
            .map(String.init)
    }
}
