import Glibc
import LedgerRows
import Testing

@testable import DunlinDisplay

/// A real terminal, made for a test: what is written to `device` comes out of `control`.
private final class Terminal {
    let control: Int32
    let device: Int32

    init() {
        control = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // What unlockpt and ptsname do, which Glibc does not export: TIOCSPTLCK and TIOCGPTN.
        var (lock, number): (Int32, UInt32) = (0, 0)
        let isUnlocked = ioctl(control, 0x4004_5431, &lock) == 0 && ioctl(control, 0x8004_5430, &number) == 0
        #expect(isUnlocked)
        device = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    }

    deinit {
        close(device)
        close(control)
    }

    func resize(columns: Int, rows: Int) {
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        #expect(ioctl(control, UInt(TIOCSWINSZ), &size) == 0)
    }

    func read() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(control, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Output to a descriptor` {
    private static let environment = ["TERM": "xterm"]

    @Test(.rows("UI-35")) func `an output reports the current size of its terminal`() {
        let terminal = Terminal()
        let output = DescriptorOutput(terminal.device, environment: Self.environment)
        #expect(output.terminal == TerminalSize(columns: 80, rows: 24))
        for columns in [132, 20] {
            terminal.resize(columns: columns, rows: 50)
            #expect(output.terminal == TerminalSize(columns: columns, rows: 50))
        }
        output.write("\u{1B}[Kä\r\n")
        #expect(terminal.read().hasPrefix("\u{1B}[Kä\r"))
    }

    @Test(arguments: [[:], ["TERM": "dumb"], ["TERM": ""]] as [[String: String]])
    func `a terminal that cannot redraw is not treated as a terminal`(environment: [String: String]) {
        let terminal = Terminal()
        #expect(DescriptorOutput(terminal.device, environment: environment).terminal == nil)
    }

    @Test func `a pipe is no terminal and gets all of the text, however slowly it is read`() async {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (source, sink) = (ends[0], ends[1])
        // Full, it says that it would have to wait.
        _ = fcntl(sink, F_SETFL, O_NONBLOCK)
        let output = DescriptorOutput(sink, environment: Self.environment)
        #expect(output.terminal == nil)
        let text = String(repeating: "0123456789", count: 50_000)
        async let written: Void = output.write(text)
        var count = 0
        var bytes = [UInt8](repeating: 0, count: 10_000)
        while count < text.utf8.count { count += max(0, read(source, &bytes, bytes.count)) }
        await written
        #expect(count == text.utf8.count)
        close(source)
        close(sink)
    }

    @Test func `writing to an invalid descriptor does nothing`() {
        let output = DescriptorOutput(-1, environment: Self.environment)
        #expect(output.terminal == nil)
        output.write("text")
    }
}
