import DunlinCodecs
import DunlinDisplay
import Foundation
import Glibc
import Testing

@testable import DunlinImages

/// A terminal that nobody looks at: what is typed into it comes from here, and so does what reads it.
private final class PseudoTerminal: Sendable {
    private let master: Int32
    let path: String

    init() throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (isLocked, number): (Int32, UInt32) = (0, 0)
        let unlocked = ioctl(master, UInt(0x4004_5431), &isLocked)  // TIOCSPTLCK
        let named = ioctl(master, UInt(0x8004_5430), &number)  // TIOCGPTN
        path = "/dev/pts/\(number)"
        try #require(master >= 0 && unlocked == 0 && named == 0)
    }

    deinit { close(master) }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// All that was written until the questions are over.
    func takeQuestions() -> String {
        var taken: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 512)
        while !String(decoding: taken, as: UTF8.self).hasSuffix("\u{1B}[c") {
            let count = read(master, &bytes, bytes.count)
            if count <= 0 { break }
            taken += bytes[..<count]
        }
        return String(decoding: taken, as: UTF8.self)
    }

    var mode: (local: tcflag_t, input: tcflag_t) {
        var mode = termios()
        tcgetattr(master, &mode)
        return (mode.c_lflag, mode.c_iflag)
    }
}

/// Signals and the mode of terminals belong to the whole process.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TerminalQuestionTests {
    private let terminal: PseudoTerminal
    /// Keeps what was set: a terminal forgets its mode when nobody has it open.
    private let slave: FileHandle

    init() throws {
        terminal = try PseudoTerminal()
        let descriptor = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(descriptor >= 0)
        slave = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private func ask(limit: Duration = .seconds(60)) -> TerminalAnswers {
        TerminalQuestion.ask(terminal.path, limit: limit)
    }

    @Test func `a terminal is asked once, and is as it was afterwards`() {
        let before = terminal.mode
        // It answers at once: the answer is there before the question.
        terminal.type("typed ahead\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[6;20;10t\u{1B}[?62;4c")
        let answers = ask()
        #expect(answers.hasKitty && answers.hasSixel && answers.isKnown)
        #expect(terminal.mode == before)
        #expect(terminal.takeQuestions().hasSuffix(TerminalAnswers.questions))
    }

    @Test func `a terminal that says nothing is waited for no longer than the limit`() {
        let before = terminal.mode
        #expect(ask(limit: .milliseconds(1)) == TerminalAnswers())
        #expect(terminal.mode == before)
    }

    /// As if somebody had pressed Control-S.
    @Test(arguments: [0, 1 << 16]) func `a terminal that takes nothing is waited for no longer than the limit`(
        filled: Int
    ) {
        let before = terminal.mode
        #expect(fcntl(slave.fileDescriptor, F_SETFL, O_RDWR | O_NONBLOCK) == 0)
        let bytes = [UInt8](repeating: 0x20, count: filled)
        _ = write(slave.fileDescriptor, bytes, filled)
        #expect(tcflow(slave.fileDescriptor, TCOOFF) == 0)
        #expect(ask(limit: .milliseconds(10)) == TerminalAnswers())
        #expect(tcflow(slave.fileDescriptor, TCOON) == 0)
        #expect(terminal.mode == before)
    }

    @Test func `an endless answer is not read for ever`() {
        // Before it is asked it drops what is more than a line may have.
        let thread = Thread { [terminal] in
            _ = terminal.takeQuestions()
            for _ in 0..<40 { terminal.type(String(repeating: "\u{1B}[6;18;9t", count: 20)) }
        }
        thread.start()
        let answers = ask()
        #expect(answers.isOver && !answers.isKnown)
    }

    @Test func `Control-C ends the asking`() {
        // Before it is asked it makes a signal of that.
        let thread = Thread { [terminal] in
            _ = terminal.takeQuestions()
            terminal.type("\u{3}")
        }
        thread.start()
        #expect(ask().isInterrupted)
    }

    @Test func `a file that is no terminal is not asked`() {
        #expect(TerminalQuestion.ask("/dev/null", limit: .seconds(60)) == TerminalAnswers())
        #expect(TerminalQuestion.ask("/dev/there/is/none", limit: .seconds(60)) == TerminalAnswers())
    }

    @Test func `a signal restores the terminal before it ends the program`() {
        let before = terminal.mode
        #expect(!Self.handlesTermination)
        whileRaw {
            #expect(terminal.mode.local & tcflag_t(ECHO | ICANON | ISIG) == 0)
            #expect(Self.handlesTermination)
            if RawMode(slave.fileDescriptor) != nil { Issue.record("there are two at a time") }
            // What the handler does first.
            RawMode.restore()
            #expect(terminal.mode == before)
        }
        #expect(terminal.mode == before)
        #expect(!Self.handlesTermination)
    }

    private func whileRaw(_ work: () -> Void) {
        guard var mode = RawMode(slave.fileDescriptor) else {
            Issue.record("the terminal has no mode")
            return
        }
        work()
        mode.discardsInput = true
    }

    private static var handlesTermination: Bool {
        var action = sigaction()
        sigaction(SIGTERM, nil, &action)
        return action.__sigaction_handler.sa_handler != nil
    }

    @Test func `the geometry is that of the terminal`() {
        var size = winsize(ws_row: 30, ws_col: 100, ws_xpixel: 900, ws_ypixel: 540)
        _ = ioctl(slave.fileDescriptor, UInt(TIOCSWINSZ), &size)
        let environment = ["TERM": "xterm", "LANG": "C.UTF-8"]
        let seen = TerminalImage.Terminal.ask(
            slave.fileDescriptor, terminal.path, environment, .blocks, .seconds(60))
        #expect(seen.isTerminal)
        #expect(seen.geometry == .init(columns: 100, rows: 30, cell: .init(width: 9, height: 18)))
        #expect(seen.style()?.method == .blocks)
        size = winsize(ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(slave.fileDescriptor, UInt(TIOCSWINSZ), &size)
        terminal.type("\u{1B}[6;20;10t\u{1B}[?62;4c")
        let asked = TerminalImage.Terminal.ask(slave.fileDescriptor, terminal.path, environment, nil, .seconds(60))
        #expect(asked.geometry.cell == .init(width: 10, height: 20))
        #expect(asked.style()?.method == .sixel)
        #expect(asked.style(.kitty)?.method == .kitty)
        #expect(asked.refusal == nil)
    }

    @Test func `a file is no terminal, and is drawn into only if that was asked for`() {
        let seen = TerminalImage.Terminal.ask(-1, terminal.path, ["TERM": "xterm"], nil, .seconds(60))
        #expect(!seen.isTerminal)
        #expect(seen.style() == nil)
        #expect(seen.refusal == .noTerminal)
        #expect(seen.style(.sixel)?.method == .sixel)
    }

    @Test func `the examples about pictures on terminals run as written`() async throws {
        let picture = TestPicture.gradient(2, 2)

        let terminal = TerminalImage.Terminal.ask()
        if let style = terminal.style() {
            let drawing = try await TerminalImage.draw(
                picture, style, in: terminal.geometry)
            DescriptorOutput(1).write(drawing.text)
        }

        #expect((terminal.style() == nil) == (terminal.refusal != nil))
    }
}
