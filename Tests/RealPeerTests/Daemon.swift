import Children
import DunlinTesting
import Folders
import Foundation
import Glibc
import Testing

/// A program that others wrote and that cannot be handed a socket: started here on ports of its own, as nobody where
/// this is root, and ended by its id. Everything it writes is in a folder of its own.
final class Daemon {
    let folder: Folder
    private(set) var ports: [UInt16] = []
    private let program: String
    private var arguments: [String] = []
    private var process: Child?

    /// nobody and nogroup.
    private static let nobody: UInt32 = 65_534

    /// `prepare` writes what the program reads, and returns its arguments. Somebody may take a port before the program
    /// does: then there are others.
    init(
        _ program: String?, in folder: Folder, ports count: Int = 1, _ prepare: ([UInt16]) throws -> [String]
    ) async throws {
        self.folder = folder
        self.program = try #require(program)
        // What is written into it later belongs to us, and anybody may read it.
        if getuid() == 0 { chown(folder.path, Self.nobody, Self.nobody) }
        for _ in 0..<5 {
            ports = try LocalPort.free(count)
            arguments = try prepare(ports)
            try launch()
            if await answers() { return }
            end()
        }
        throw Child.Failure(description: "\(self.program) does not answer")
    }

    var port: UInt16 { ports[0] }

    /// Once more, on the same ports.
    func start() async throws {
        try launch()
        guard await answers() else { throw Child.Failure(description: "\(program) does not answer any more") }
    }

    /// At once, connections and all.
    func kill() { end(by: SIGKILL) }

    /// Returns when it is gone.
    func end(by signal: Int32 = SIGTERM) {
        process?.stop(by: signal)
        process = nil
    }

    private func launch() throws {
        guard process == nil else { return }
        let command = Self.modest + (getuid() == 0 ? Self.unprivileged : []) + [program] + arguments
        process = try Child(command[0], Array(command.dropFirst()), in: folder.path)
    }

    /// A program that makes a table of all descriptors it might have would fill the memory where containers allow any
    /// number.
    private static let modest = ["/usr/bin/prlimit", "--nofile=1024"]
    private static let unprivileged = [
        "/usr/bin/setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups",
    ]

    private func answers() async -> Bool {
        do {
            try await eventually("it answers", within: .seconds(60)) { try ports.allSatisfy(LocalPort.answers) }
            return true
        } catch {
            return false
        }
    }

    /// The first of these that there is.
    static func program(_ paths: String...) -> String? {
        paths.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
