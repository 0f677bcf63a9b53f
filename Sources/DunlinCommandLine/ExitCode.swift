/// The exit codes of a command.
package enum ExitCode: Int32, Sendable, CaseIterable {
    case success = 0
    case failure = 1
    case usage = 2
    case refused = 3
    case unwritten = 4
    case interrupted = 130
    case terminated = 143

    /// What the help and the manual page say of it.
    package var meaning: String {
        switch self {
        case .success: "done"
        case .failure: "something could not be fetched, reached, shown or written"
        case .usage: "the arguments, or a URL, make no sense"
        case .refused: "a server answered with a status other than 2xx"
        case .unwritten: "the result could not be written, or is binary and was not shown"
        case .interrupted: "stopped by ^C"
        case .terminated: "stopped by the signal TERM"
        }
    }

    /// The signal that a shell takes the code for; nil for any other code.
    var signal: Int32? {
        switch self {
        case .interrupted, .terminated: rawValue - 128
        case .success, .failure, .usage, .refused, .unwritten: nil
        }
    }
}
