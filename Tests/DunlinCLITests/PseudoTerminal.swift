import Children
import Foundation
import Glibc
import Synchronization

/// A terminal of a given size, without a person: what is written to `device` is what they would see.
///
/// What is written is read at once, so that no writer waits for a reader. The kernel adds nothing: a line's end is the
/// single byte that was written.
final class PseudoTerminal: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The descriptor of a program on this terminal.
    let device: Int32
    /// The descriptor of the person: what is written here was typed.
    let control: Int32
    private let seen = Mutex<[UInt8]>([])
    private let reading = DispatchGroup()

    init(columns: Int, rows: Int = 24) throws {
        control = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // The C library's functions for that are not there for Swift: TIOCSPTLCK unlocks it, TIOCGPTN numbers it.
        var (locked, number): (CInt, CUnsignedInt) = (0, 0)
        guard control >= 0, ioctl(control, 0x4004_5431, &locked) == 0, ioctl(control, 0x8004_5430, &number) == 0
        else { throw Failure(description: "no terminal: \(String(cString: strerror(errno)))") }
        device = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var mode = termios()
        guard device >= 0, tcgetattr(device, &mode) == 0 else {
            throw Failure(description: "no terminal: \(String(cString: strerror(errno)))")
        }
        mode.c_oflag &= ~tcflag_t(OPOST)
        mode.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(device, TCSANOW, &mode)
        resize(columns: columns, rows: rows)
        let (thread, reading) = (Thread { [self] in read() }, reading)
        reading.enter()
        thread.start()
    }

    deinit { close(control) }

    func resize(columns: Int, rows: Int) {
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(device, UInt(TIOCSWINSZ), &size)
    }

    /// What has been written so far.
    var shown: [UInt8] { seen.withLock { $0 } }

    /// Closes the device, and returns all that was written once every program has closed it too.
    func finish() -> [UInt8] {
        close(device)
        reading.wait()
        return shown
    }

    /// The same as text.
    func finishedText() -> String { String(decoding: finish(), as: UTF8.self) }

    /// Until the last descriptor of the device is closed, which the kernel calls an error.
    private func read() {
        defer { reading.leave() }
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(control, &piece, piece.count)
            if count > 0 {
                seen.withLock { $0 += piece[..<count] }
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }
}

extension PseudoTerminal {
    /// The `dunlin` program that was linked with these tests.
    static var program: String {
        get throws {
            let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            return own.deletingLastPathComponent().appending(path: "dunlin").path
        }
    }

    /// Runs the linked program, or another, on a new terminal, and returns all that it showed, and how it ended.
    /// Descriptors of ours may stand for the terminal.
    static func run(
        _ arguments: [String], by program: String? = nil, columns: Int = 100, rows: Int = 24,
        environment: [String: String] = [:],
        descriptors: [Int32: Int32] = [:]
    ) async throws -> (text: String, end: Child.End) {
        let terminal = try PseudoTerminal(columns: columns, rows: rows)
        let own = [0: terminal.device, 1: terminal.device, 2: terminal.device] as [Int32: Int32]
        var variables = ["TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": "/nonexistent"]
        for name in ["PATH", "LD_LIBRARY_PATH", "TMPDIR"] {
            variables[name] = ProcessInfo.processInfo.environment[name]
        }
        variables.merge(environment) { _, given in given }
        let child = try Child(
            try program ?? Self.program, arguments, environment: variables.map { "\($0.key)=\($0.value)" },
            descriptors: own.merging(descriptors) { _, given in given })
        let end = await child.ended()
        return (terminal.finishedText(), end)
    }
}
