internal import DunlinCodecs
internal import FoundationEssentials
internal import Glibc  // the terminal's size, and its answers

extension TerminalImage {
    /// What is known of a terminal: its size, and which pictures it shows.
    public struct Terminal: Sendable, Hashable {
        public var geometry: Geometry
        /// Whether it is a terminal, with this program in its foreground.
        public let isTerminal: Bool
        /// Whether a person pressed Control-C while the terminal was asked.
        public let isInterrupted: Bool
        private let hints: TerminalHints
        private let answers: TerminalAnswers

        init(geometry: Geometry, isTerminal: Bool, _ hints: TerminalHints, _ answers: TerminalAnswers) {
            (self.geometry, self.isTerminal, self.hints, self.answers) = (geometry, isTerminal, hints, answers)
            isInterrupted = answers.isInterrupted
            if self.geometry.cell == nil { self.geometry.cell = answers.cell }
        }

        /// Returns the best style for pictures there; nil if none are shown, for the reason in `refusal`. A given
        /// method is always used, even for a file.
        public func style(_ method: Method? = nil) -> Style? {
            if case .draw(let style) = TerminalChoice(asked: method, isTerminal: isTerminal, hints, answers) {
                style
            } else {
                nil
            }
        }

        /// Why no pictures are shown; nil if they are.
        public var refusal: Refusal? {
            if case .describe(let reason) = TerminalChoice(isTerminal: isTerminal, hints, answers) {
                reason
            } else {
                nil
            }
        }

        /// Examines a terminal, by default standard output, and asks it what it can show. What a person types meanwhile
        /// is lost.
        ///
        /// It blocks the calling thread until the terminal has answered or the limit is over: a remote terminal may be
        /// slow. Ask once, when the program begins. With a method, only what matters for it is asked.
        public static func ask(
            _ descriptor: Int32 = 1, for method: Method? = nil, limit: Duration = .milliseconds(500)
        ) -> Terminal {
            ask(descriptor, "/dev/tty", ProcessInfo.processInfo.environment, method, limit)
        }

        /// The questions go to the process's terminal, which the answers come from, whatever its input is.
        static func ask(
            _ descriptor: Int32, _ path: String, _ environment: [String: String], _ method: Method?, _ limit: Duration
        ) -> Terminal {
            let hints = TerminalHints(environment)
            let isTerminal = isatty(descriptor) == 1 && isInForeground(descriptor)
            var answers = TerminalAnswers()
            if TerminalChoice.asks(asked: method, isTerminal: isTerminal, hints), method != .blocks {
                answers = TerminalQuestion.ask(path, limit: limit)
            }
            return Terminal(geometry: geometry(descriptor), isTerminal: isTerminal, hints, answers)
        }

        /// Whether the program is in the terminal's foreground. A terminal that the program does not control counts as
        /// yes.
        private static func isInForeground(_ descriptor: Int32) -> Bool {
            let group = tcgetpgrp(descriptor)
            return group < 0 || group == getpgrp()
        }

        private static func geometry(_ descriptor: Int32) -> Geometry {
            var size = winsize()
            guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
                return Geometry()
            }
            let (columns, rows) = (Int(size.ws_col), Int(size.ws_row))
            let cell = ImageSize(width: Int(size.ws_xpixel) / columns, height: Int(size.ws_ypixel) / rows)
            return Geometry(columns: columns, rows: rows, cell: cell.width > 0 && cell.height > 0 ? cell : nil)
        }
    }
}

/// Asks a terminal all questions at once, and reads its answers within a time limit.
enum TerminalQuestion {
    static func ask(_ path: String, limit: Duration) -> TerminalAnswers {
        var answers = TerminalAnswers()
        // A stopped terminal, or one on a slow line, accepts nothing, and a write would wait.
        let terminal = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard terminal >= 0 else { return answers }
        defer { close(terminal) }
        guard var mode = RawMode(terminal) else { return answers }
        let deadline = ContinuousClock.now + limit
        guard write(TerminalAnswers.questions, to: terminal, until: deadline) else { return answers }
        while !answers.isOver, isReady(terminal, POLLIN, until: deadline) {
            guard let bytes = read(terminal) else { break }
            answers.read(bytes)
        }
        mode.discardsInput = !answers.isKnown
        return answers
    }

    /// Waits for events. Returns false when the time is up.
    private static func isReady(_ terminal: Int32, _ events: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            let rest = deadline - ContinuousClock.now
            let milliseconds = rest.components.seconds * 1000 + rest.components.attoseconds / 1_000_000_000_000_000
            if milliseconds <= 0 { return false }
            var entry = pollfd(fd: terminal, events: Int16(events), revents: 0)
            let count = poll(&entry, 1, Int32(clamping: milliseconds))
            if count > 0 { return entry.revents & Int16(events) != 0 }
            if count < 0, errno != EINTR { return false }
        }
    }

    /// Reads input; nil at the end and on errors.
    private static func read(_ terminal: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 512)
        while true {
            let count = Glibc.read(terminal, &bytes, bytes.count)
            if count > 0 { return Array(bytes[..<count]) }
            if count < 0, errno == EINTR { continue }
            return count < 0 && errno == EAGAIN ? [] : nil
        }
    }

    private static func write(
        _ text: String, to terminal: Int32, until deadline: ContinuousClock.Instant
    ) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(terminal, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN, isReady(terminal, POLLOUT, until: deadline) { continue }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
