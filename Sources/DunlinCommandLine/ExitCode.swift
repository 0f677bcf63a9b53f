/// The exit codes of a command.
package enum ExitCode: Int32, Sendable, CaseIterable {
    case success = 0
    case failure = 1
    case usage = 2
    case refused = 3
    case unwritten = 4
    case interrupted = 130

    /// What the help and the manual page say of it.
    package var meaning: String {
        switch self {
        case .success: "done"
        case .failure: "something could not be fetched, reached, shown or written"
        case .usage: "the arguments, or a URL, make no sense"
        case .refused: "a server answered with a status other than 2xx"
        case .unwritten: "the result could not be written, or is binary and was not shown"
        case .interrupted: "it was interrupted by Control-C"
        }
    }
}
