import Children
import Folders
import Glibc
import Testing

@Suite struct `Folders of tests` {
    /// A folder with a name as a process gives it that is no more.
    private static func leave(in place: Folder) async throws -> String {
        let child = try Child("/bin/true", [])
        #expect(await child.ended().status == 0)
        let name = Leftovers.name(of: child.pid)
        try place.write("x", as: "\(name)/sub/file")
        return name
    }

    @Test func `what a killed process left behind goes, and nothing else`() async throws {
        let place = try Folder()
        _ = try await Self.leave(in: place)
        let others = [Leftovers.name(of: getpid()), Leftovers.name(of: 1), "dunlin-test-1-999999-x", "x"]
        for name in others { try place.write("x", as: "\(name)/file") }
        Leftovers.sweep(place.path)
        #expect(try place.names() == others.sorted())
    }

    @Test(.enabled(if: Mount.isPossible, "takes root: what was left mounted is not tested"))
    func `what a killed process left mounted is unmounted and goes`() async throws {
        let place = try Folder()
        let name = try await Self.leave(in: place)
        for _ in 0..<2 { #expect(mount("tmpfs", "\(place.path)/\(name)", "tmpfs", 0, "size=1048576") == 0) }
        try place.write("x", as: "\(name)/file")
        Leftovers.sweep(place.path)
        #expect(try place.names().isEmpty)
    }
}
