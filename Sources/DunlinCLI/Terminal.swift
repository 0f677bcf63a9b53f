import Dunlin
import DunlinCommandLine
import Glibc

/// Asks for a password without echo.
///
/// Signals that would end or stop the program while nothing is echoed are caught until the terminal is as it was; then
/// they have their usual effect. A program that goes on after it was stopped asks again.
struct Terminal {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    private let descriptor: Int32
    private let usual: termios

    /// Asks on the terminal, whatever standard input is.
    static func password(of user: String, on path: String = "/dev/tty") throws -> String {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        var usual = termios()
        guard descriptor >= 0, tcgetattr(descriptor, &usual) == 0 else {
            if descriptor >= 0 { close(descriptor) }
            // Not even the name is shown: people give tokens as names.
            throw UsageError(
                description: "there is no terminal to ask for the password; give it as --user NAME:PASSWORD")
        }
        defer { close(descriptor) }
        let terminal = Terminal(descriptor: descriptor, usual: usual)
        while true {
            switch terminal.ask("password of \(VisibleText.of(user, upTo: 100)): ") {
            case .line(let line): return String(decoding: line, as: UTF8.self)
            // To the process, as the threads of tasks block signals.
            case .signal(let number): kill(getpid(), number)
            case .byte: break
            }
        }
    }

    private func ask(_ question: String) -> PasswordMachine.Event {
        let caught = CaughtSignals(Self.signals)
        defer { caught.end() }
        var hidden = usual
        hidden.c_lflag &= ~tcflag_t(ECHO | ICANON)
        tcsetattr(descriptor, TCSAFLUSH, &hidden)
        defer {
            var usual = usual
            tcsetattr(descriptor, TCSAFLUSH, &usual)
            say("\n")
        }
        say(question)
        var machine = PasswordMachine()
        while true {
            if let end = machine.take(next(caught)) { return end }
        }
    }

    /// A byte that was typed, or a signal. A terminal that is gone ends the line.
    private func next(_ caught: borrowing CaughtSignals) -> PasswordMachine.Event {
        var byte: UInt8 = 0
        while true {
            if let number = caught.first { return .signal(number) }
            // A signal may come to another thread, which interrupts no wait of this one.
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&ready, 1, 100) <= 0 { continue }
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            return .byte(count == 1 ? byte : 0x04)
        }
    }

    private func say(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}
