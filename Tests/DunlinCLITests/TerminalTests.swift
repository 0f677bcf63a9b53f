import Dunlin
import DunlinCommandLine
import Foundation
import Synchronization
import Testing

@testable import DunlinCLI

/// How a password is asked for.
@Suite(.timeLimit(.minutes(2))) struct TerminalTests {
    @Test(
        arguments: [
            ("pw\n", "pw"), ("pw\r", "pw"), ("\u{4}", ""), ("pwx\u{7F}\n", "pw"), ("é\u{8}a\n", "a"),
            ("xy\u{15}a\n", "a"),
        ])
    func `a line ends and is edited as on a terminal`(typed: String, expected: String) {
        var machine = PasswordMachine()
        var end: PasswordMachine.Event?
        for byte in typed.utf8 where end == nil { end = machine.take(.byte(byte)) }
        #expect(end == .line(Array(expected.utf8)))
    }

    @Test func `a signal ends the question`() {
        var machine = PasswordMachine()
        #expect(machine.take(.byte(0x61)) == nil)
        #expect(machine.take(.signal(SIGTERM)) == .signal(SIGTERM))
    }

    @Test func `nothing is echoed while it is asked, the name cannot act, and the terminal is as before`() async throws
    {
        let main = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(main) }
        // TIOCSPTLCK and TIOCGPTN, which are macros.
        var (lock, number) = (Int32(0), Int32(0))
        try #require(ioctl(main, 0x4004_5431, &lock) == 0 && ioctl(main, 0x8004_5430, &number) == 0)
        let path = "/dev/pts/\(number)"
        func echoes() -> Bool {
            var state = termios()
            return tcgetattr(main, &state) == 0 && state.c_lflag & tcflag_t(ECHO) != 0
        }
        let answer = Mutex<String?>(nil)
        let told = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let text = try? Terminal.password(of: "a\u{1B}[31m\u{202E}b", on: path)
            answer.withLock { $0 = text }
            told.signal()
        }
        var seen: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 100)
        while !seen.ends(with: ": ") {
            let count = read(main, &piece, piece.count)
            try #require(count > 0)
            seen += piece[..<count]
        }
        #expect(String(decoding: seen, as: UTF8.self) == "password of a[31mb: ")
        #expect(!echoes())
        #expect(write(main, "secret\n", 7) == 7)
        Self.wait(for: told)
        #expect(answer.withLock { $0 } == "secret")
        #expect(echoes())
        let count = read(main, &piece, piece.count)
        #expect(String(decoding: piece[..<max(0, count)], as: UTF8.self) == "\r\n")
    }

    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test func `without a terminal not even the name is shown`() {
        let complaint = "there is no terminal to ask for the password; give it as --user NAME:PASSWORD"
        #expect(throws: UsageError(description: complaint)) { try Terminal.password(of: "token", on: "/nowhere") }
    }
}

extension Array<UInt8> {
    fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
