import DunlinReactor
import DunlinTypes
import Folders
import Glibc
import LedgerRows
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Part file` {
    private let scratch: Folder
    private var folder: String { scratch.path }

    init() throws { scratch = try Folder() }

    private static func errno(_ work: () throws(Errno) -> Void) -> Int32 {
        do throws(Errno) {
            try work()
            return 0
        } catch {
            return error.rawValue
        }
    }

    private static func bytes(_ text: String, _ use: (UnsafeRawBufferPointer) throws(Errno) -> Void) throws(Errno) {
        try Bytes(text).withUnsafeBytes { bytes throws(Errno) in try use(bytes) }
    }

    @Test func `a part file is made once, and locked for as long as it is open`() throws {
        let path = "\(folder)/a"
        do {
            let file = try PartFile(creating: path)
            #expect(Self.errno { () throws(Errno) in _ = try PartFile(creating: path) } == EEXIST)
            #expect(Self.errno { () throws(Errno) in _ = try PartFile(opening: path) } == EWOULDBLOCK)
            #expect(try file.isInPlace())
        }
        _ = try PartFile(opening: path)
    }

    @Test func `a file that is swept before it is locked is made again`() throws {
        let path = "\(folder)/a"
        var swept = 0
        let file = try PartFile(creating: path) {
            if swept == 3 { return }
            swept += 1
            // As whoever finds it without a lock does.
            do { try PartFile(opening: path).remove() } catch { Issue.record(error) }
        }
        #expect(swept == 3)
        #expect(try file.isInPlace() && file.isLocked)
        let always = Self.errno { () throws(Errno) in
            _ = try PartFile(creating: "\(folder)/b") { unlink("\(folder)/b") }
        }
        #expect(always == ENOENT)
    }

    @Test func `a file that somebody else has locked first is theirs`() throws {
        let path = "\(folder)/a"
        var theirs: PartFile?
        let error = Self.errno { () throws(Errno) in
            _ = try PartFile(creating: path) {
                do { theirs = try PartFile(opening: path) } catch { Issue.record(error) }
            }
        }
        #expect(error == EWOULDBLOCK)
        #expect(try theirs?.isInPlace() == true)
    }

    @Test func `a part file is written anywhere, read, cut and synced`() throws {
        let file = try PartFile(creating: "\(folder)/a")
        try Self.bytes("world") { bytes throws(Errno) in try file.write(bytes, at: 6) }
        try Self.bytes("hello ") { bytes throws(Errno) in try file.write(bytes, at: 0) }
        #expect(try file.allocate(1 << 20))
        #expect(try file.status().length == 11, "allocating makes it no longer")
        #expect(try file.read(at: 4, upTo: 100) == Array("o world".utf8))
        try file.truncate(to: 5)
        try file.sync()
        #expect(try file.read(at: 0, upTo: 100) == Array("hello".utf8))
        #expect(try file.read(at: 5, upTo: 100).isEmpty)
    }

    @Test func `a part file is removed only from where it still is`() throws {
        let path = "\(folder)/a"
        let file = try PartFile(creating: path)
        try FileSystem.move(path, to: "\(folder)/b", overwriting: false)
        #expect(try !file.isInPlace())
        _ = try PartFile(creating: path)
        try file.remove()
        #expect(try FileSystem.names(in: folder).sorted() == ["a", "b"])
    }

    @Test func `a folder, link or pipe is not taken for a part file`() throws {
        try FileSystem.makeFolders("\(folder)/sub")
        #expect(symlink("nowhere", "\(folder)/link") == 0)
        #expect(mkfifo("\(folder)/pipe", 0o600) == 0)
        let table: [(String, Int32)] = [("sub", EISDIR), ("link", ELOOP), ("pipe", EINVAL), ("none", ENOENT)]
        for (name, expected) in table {
            #expect(Self.errno { () throws(Errno) in _ = try PartFile(opening: "\(folder)/\(name)") } == expected)
        }
        #expect(Self.errno { () throws(Errno) in _ = try PartFile(creating: "\(folder)/a\0b") } == EINVAL)
    }

    @Test func `a part file is not taken from where others may have written it`() throws {
        let path = "\(folder)/a"
        do { _ = try PartFile(creating: path) }
        #expect(try FileSystem.status(of: path)?.ownership.fault(of: FileSystem.user) == nil)
        for permissions: mode_t in [0o620, 0o602, 0o666] {
            #expect(chmod(path, permissions) == 0)
            #expect(Self.errno { () throws(Errno) in _ = try PartFile(opening: path) } == EPERM)
            #expect(Self.errno { () throws(Errno) in _ = try OpenFile(own: path) } == EPERM)
            _ = try OpenFile(path)
        }
        #expect(chmod(path, 0o644) == 0)
        _ = try OpenFile(own: path)
        #expect(link(path, "\(folder)/b") == 0)
        #expect(Self.errno { () throws(Errno) in _ = try PartFile(opening: path) } == EPERM)
        guard case .failure(.links(2)) = try PartFile.found(at: path) else {
            Issue.record("it has two names")
            return
        }
        try FileSystem.remove("\(folder)/b")
        _ = try PartFile(opening: path)
        #expect(symlink(path, "\(folder)/link") == 0)
        #expect(Self.errno { () throws(Errno) in _ = try OpenFile(own: "\(folder)/link") } == ELOOP)
    }

    @Test(.enabled(if: geteuid() == 0, "takes root: a file of another user's is not tested"))
    func `a part file is not taken from another user`() throws {
        let path = "\(folder)/a"
        do { _ = try PartFile(creating: path) }
        #expect(chown(path, 12345, 0) == 0)
        #expect(Self.errno { () throws(Errno) in _ = try PartFile(opening: path) } == EPERM)
        #expect(Self.errno { () throws(Errno) in _ = try OpenFile(own: path) } == EPERM)
        #expect(try FileSystem.fault(ofFolder: folder) == nil)
        #expect(chown(folder, 12345, 0) == 0)
        #expect(try FileSystem.fault(ofFolder: folder) == .owner(12345))
    }

    @Test(arguments: [
        (0, 0, true), (0, Int.min, false), (0, Int.max, true), (Int.max, Int.max, true), (Int.min, 0, true),
        (1, 0, false),
    ])
    func `a file is as old as its time says, whatever that time is`(age: Int, now: Int, expected: Bool) throws {
        let path = "\(folder)/a"
        do { _ = try PartFile(creating: path) }
        var times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
        let status = try #require(try FileSystem.status(of: path))
        #expect(status.isOlder(than: age, at: now) == expected)
        times[1].tv_sec = 100
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
        #expect(try FileSystem.status(of: path)?.isOlder(than: 1, at: Int.min) == false)
    }

    @Test(.rows("SM-62")) func `a file gets a name in one step, and takes it from no other file unless told to`() throws
    {
        _ = try PartFile(creating: "\(folder)/new")
        _ = try PartFile(creating: "\(folder)/old")
        let (new, old) = ("\(folder)/new", "\(folder)/old")
        #expect(Self.errno { () throws(Errno) in try FileSystem.move(new, to: old, overwriting: false) } == EEXIST)
        #expect(try FileSystem.names(in: folder).sorted() == ["new", "old"])
        try FileSystem.move(new, to: old, overwriting: true)
        #expect(try FileSystem.names(in: folder) == ["old"])
        try FileSystem.makeFolders("\(folder)/sub")
        let table: [(String, Int32)] = [
            ("sub", EISDIR), ("missing/x", ENOENT), ("old/x", ENOTDIR),
            (String(repeating: "n", count: 256), ENAMETOOLONG),
        ]
        for (target, expected) in table {
            let path = "\(folder)/\(target)"
            #expect(
                Self.errno { () throws(Errno) in try FileSystem.move(old, to: path, overwriting: true) } == expected)
        }
        #expect(try FileSystem.names(in: folder).sorted() == ["old", "sub"])
    }

    @Test func `missing folders are made, as far as they are missing`() throws {
        try FileSystem.makeFolders("\(folder)/a/b/c")
        try FileSystem.makeFolders("\(folder)/a/b/c")
        #expect(try FileSystem.status(of: "\(folder)/a/b/c")?.kind == .folder)
        _ = try PartFile(creating: "\(folder)/file")
        #expect(Self.errno { () throws(Errno) in try FileSystem.makeFolders("\(folder)/file/x") } == ENOTDIR)
        #expect(Self.errno { () throws(Errno) in try FileSystem.makeFolders("\(folder)/file") } == ENOTDIR)
        try FileSystem.syncFolder("\(folder)/a")
        #expect(Self.errno { () throws(Errno) in try FileSystem.syncFolder("\(folder)/none") } == ENOENT)
    }

    @Test func `a write beyond the limit of file sizes is an error, on a disk thread`() async throws {
        let path = "\(folder)/a"
        let file = try PartFile(creating: path)
        // Beyond what any file system has; a write there would raise the same signal as one beyond the process's limit.
        let outcome: Int32 = await DiskThreads.shared.run {
            Self.errno { () throws(Errno) in
                try Self.bytes("x") { bytes throws(Errno) in try file.write(bytes, at: Int.max - 1) }
            }
        }
        #expect(outcome == EFBIG || outcome == EINVAL)
    }
}
