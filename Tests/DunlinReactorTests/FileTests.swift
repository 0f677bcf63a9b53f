import DunlinReactor
import DunlinTypes
import Folders
import Glibc
import Testing

@Suite struct `Files` {
    /// A file of so many bytes, which count up.
    private static func file(_ count: Int, in folder: Folder) throws -> OpenFile {
        try OpenFile(folder.write((0..<count).map { UInt8(truncatingIfNeeded: $0) }, as: "file"))
    }

    @Test func `a file goes to a socket from any offset until its end`() throws {
        let folder = try Folder()
        let file = try Self.file(1000, in: folder)
        #expect(file.length == 1000)
        let pair = try Pair()
        for (offset, count, taken) in [(0, 10, 10), (990, 100, 10), (1000, 1, 0), (5000, 1, 0)] {
            #expect(try pair.near.sendFile(file, from: offset, count: count) == taken)
            let expected = (offset..<(offset + taken)).map { UInt8(truncatingIfNeeded: $0) }
            if taken > 0 { #expect(try pair.far.read(upTo: 100) == expected) }
            #expect(try file.read(at: offset, upTo: count) == expected)
        }
    }

    @Test func `a file waits for a socket that is full`() throws {
        let folder = try Folder()
        let file = try Self.file(1 << 20, in: folder)
        let pair = try Pair()
        var offset = 0
        while let taken = try pair.near.sendFile(file, from: offset, count: 1 << 20) { offset += taken }
        #expect(offset > 0 && offset < 1 << 20)
    }

    @Test func `a file that is sent raises no signal when the peer is gone`() throws {
        let folder = try Folder()
        let file = try Self.file(10, in: folder)
        let near = try Pair().giveNear()
        // A signal would end the process here.
        #expect(throws: Errno(rawValue: EPIPE)) { try near.sendFile(file, from: 0, count: 10) }
        var pending = sigset_t()
        sigpending(&pending)
        #expect(sigismember(&pending, SIGPIPE) == 0)
    }

    @Test(arguments: [("/tmp", EISDIR), ("/tmp/no/such/file", ENOENT), ("/dev/null", EINVAL), ("/tmp\0x", EINVAL)])
    func `only a regular file is opened`(path: String, code: Int32) {
        #expect(throws: Errno(rawValue: code)) { _ = try OpenFile(path) }
    }
}
