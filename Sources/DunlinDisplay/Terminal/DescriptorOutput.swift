internal import FoundationEssentials
internal import Glibc  // the size of a terminal, and one write for each frame

/// The output to a file descriptor: a terminal, or whatever standard error leads to. It does not close the descriptor.
///
/// The terminal is asked for its size before each frame, so that no signal has to be handled. A program in the
/// background redraws nothing, because the terminal is then another's.
public struct DescriptorOutput: DisplayOutput {
    public static let standardError = DescriptorOutput(STDERR_FILENO)

    private let descriptor: Int32
    private let canRedraw: Bool

    public init(_ descriptor: Int32) {
        self.init(descriptor, environment: ProcessInfo.processInfo.environment)
    }

    init(_ descriptor: Int32, environment: [String: String]) {
        self.descriptor = descriptor
        canRedraw = DisplayStyle.canRedraw(environment)
    }

    public var terminal: TerminalSize? {
        guard canRedraw, isatty(descriptor) == 1, isInForeground else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Whether the program is in the terminal's foreground. A terminal that the program does not control counts as yes.
    private var isInForeground: Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }

    public func write(_ text: String) {
        var text = text
        // After a failure there is nobody to see it.
        _ = text.withUTF8 { Self.write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// Writes everything; a descriptor that cannot take more now is waited for. Returns 0, or the number of the error.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Someone else has made it non-blocking.
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&entry, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
