internal import DunlinCodecs
internal import FoundationEssentials
internal import Glibc  // the terminal's size, and its answers

extension TerminalImage {
    /// What is known of a terminal: how large it is, and which pictures it shows.
    public struct Terminal: Sendable, Hashable {
        public var geometry: Geometry
        /// Whether it is a terminal, with this program in its foreground.
        public let isTerminal: Bool
        /// Whether a person pressed Control-C while it was asked.
        public let isInterrupted: Bool
        private let hints: TerminalHints
        private let answers: TerminalAnswers

        init(geometry: Geometry, isTerminal: Bool, _ hints: TerminalHints, _ answers: TerminalAnswers) {
            (self.geometry, self.isTerminal, self.hints, self.answers) = (geometry, isTerminal, hints, answers)
            isInterrupted = answers.isInterrupted
            if self.geometry.cell == nil { self.geometry.cell = answers.cell }
        }

        /// How pictures are best shown there; nil where they are not, as `refusal` says why. A method that is given is
        /// used wherever that may lead, also into a file.
        public func style(_ method: Method? = nil) -> Style? {
            if case .draw(let style) = TerminalChoice(asked: method, isTerminal: isTerminal, hints, answers) {
                style
            } else {
                nil
            }
        }

        /// Why none are shown.
        public var refusal: Refusal? {
            if case .describe(let reason) = TerminalChoice(isTerminal: isTerminal, hints, answers) {
                reason
            } else {
                nil
            }
        }

        /// Looks at a terminal, by default standard output, and asks it what it can show. What a person types meanwhile
        /// is lost.
        ///
        /// Blocks the calling thread until it has answered, or for as long as the limit says: a terminal that is far
        /// away takes its time. Ask once, when the program begins. With a method nothing is asked that makes no
        /// difference to it.
        public static func ask(
            _ descriptor: Int32 = 1, for method: Method? = nil, limit: Duration = .milliseconds(500)
        ) -> Terminal {
            ask(descriptor, "/dev/tty", ProcessInfo.processInfo.environment, method, limit)
        }

        /// The questions go where the answers come from: to the terminal of the process, whatever its input is.
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

        /// Of a terminal that is not this program's to control nobody knows.
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

/// Asks a terminal all questions at once, and reads what it answers within a limit of time.
enum TerminalQuestion {
    static func ask(_ path: String, limit: Duration) -> TerminalAnswers {
        var answers = TerminalAnswers()
        // A terminal that was stopped, or is on the other side of a slow line, takes nothing: then a write would wait.
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

    /// False once the time is over.
    private static func isReady(_ terminal: Int32, _ events: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            let rest = deadline - ContinuousClock.now
            let milliseconds = rest.components.seconds * 1000 + rest.components.attoseconds / 1_000_000_000_000_000
            if milliseconds <= 0 { return false }
            var place = pollfd(fd: terminal, events: Int16(events), revents: 0)
            let count = poll(&place, 1, Int32(clamping: milliseconds))
            if count > 0 { return place.revents & Int16(events) != 0 }
            if count < 0, errno != EINTR { return false }
        }
    }

    /// Nil at the end, and when something is wrong.
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
