import DunlinCommandLine
import Glibc

/// Reads what a person types: standard input, and passwords without echo.
enum Terminal {
    /// All of standard input.
    static func input() throws -> [UInt8] {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = read(STDIN_FILENO, &piece, piece.count)
            if count > 0 {
                all += piece[..<count]
            } else if count == 0 {
                return all
            } else if errno != EINTR {
                throw UsageError(description: "standard input cannot be read: \(String(cString: strerror(errno)))")
            }
        }
    }

    /// Asks on the terminal, whatever standard input is.
    static func password(of user: String) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        var usual = termios()
        guard terminal >= 0, tcgetattr(terminal, &usual) == 0 else {
            if terminal >= 0 { close(terminal) }
            throw UsageError(
                description: "there is no terminal to ask for the password; give it as --user \(user):PASSWORD")
        }
        defer { close(terminal) }
        var hidden = usual
        // An interrupt is read as a character, so that the terminal is never left without echo.
        hidden.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        tcsetattr(terminal, TCSAFLUSH, &hidden)
        say("password of \(user): ", terminal)
        let line = readLine(terminal)
        tcsetattr(terminal, TCSAFLUSH, &usual)
        say("\n", terminal)
        guard let line else { exit(ExitCode.interrupted.rawValue) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Reads a line with support for deleting characters; nil if it was interrupted.
    private static func readLine(_ terminal: Int32) -> [UInt8]? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return line }
            switch byte {
            case 0x03: return nil
            case 0x04, 0x0A, 0x0D: return line
            case 0x08, 0x7F: removeLast(&line)
            case 0x15: line = []
            default: line.append(byte)
            }
        }
    }

    /// Removes a whole character, which may be several bytes.
    private static func removeLast(_ line: inout [UInt8]) {
        while let byte = line.popLast(), byte & 0xC0 == 0x80 {}
    }

    private static func say(_ text: String, _ terminal: Int32) {
        let bytes = Array(text.utf8)
        _ = write(terminal, bytes, bytes.count)
    }
}
