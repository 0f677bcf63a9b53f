import DunlinReactor
import DunlinTypes
import Glibc
import Testing

/// A file of its own, gone with the value.
struct Scratch: ~Copyable {
    let path = "/tmp/dunlin-\(getpid())-\(UInt32.random(in: 0...(.max)))"

    init(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0, write(descriptor, bytes, count) == count, close(descriptor) == 0 else {
            throw Errno.last
        }
    }

    deinit { unlink(path) }
}

@Suite struct `Files` {
    @Test func `a file goes to a socket from any offset until its end`() throws {
        let scratch = try Scratch(1000)
        let file = try OpenFile(scratch.path)
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
        let scratch = try Scratch(1 << 20)
        let file = try OpenFile(scratch.path)
        let pair = try Pair()
        var offset = 0
        while let taken = try pair.near.sendFile(file, from: offset, count: 1 << 20) { offset += taken }
        #expect(offset > 0 && offset < 1 << 20)
    }

    @Test func `a file that is sent raises no signal when the peer is gone`() throws {
        let scratch = try Scratch(10)
        let file = try OpenFile(scratch.path)
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
