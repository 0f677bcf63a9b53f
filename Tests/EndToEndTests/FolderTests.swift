import Children
import Folders
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Folders of tests` {
    /// A folder with a name as a process gives it that is no more.
    private static func leave(in scratch: Folder) async throws -> String {
        let child = try Child("/bin/true", [])
        #expect(await child.ended().status == 0)
        let name = Leftovers.name(of: child.pid)
        try scratch.write("x", as: "\(name)/sub/file")
        return name
    }

    @Test func `what a killed process left behind goes, and nothing else`() async throws {
        let scratch = try Folder()
        _ = try await Self.leave(in: scratch)
        let others = [Leftovers.name(of: getpid()), Leftovers.name(of: 1), "dunlin-test-1-999999-x", "x"]
        for name in others { try scratch.write("x", as: "\(name)/file") }
        Leftovers.sweep(scratch.path)
        #expect(try scratch.names() == others.sorted())
    }

    @Test(.enabled(if: Mount.isPossible, "takes root: what was left mounted is not tested"))
    func `what a killed process left mounted is unmounted and goes`() async throws {
        let scratch = try Folder()
        let name = try await Self.leave(in: scratch)
        for _ in 0..<2 { #expect(mount("tmpfs", "\(scratch.path)/\(name)", "tmpfs", 0, "size=1048576") == 0) }
        try scratch.write("x", as: "\(name)/file")
        Leftovers.sweep(scratch.path)
        #expect(try scratch.names().isEmpty)
    }
}
