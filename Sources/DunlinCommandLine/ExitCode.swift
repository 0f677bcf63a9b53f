/// The exit codes of a command.
package enum ExitCode: Int32, Sendable {
    case success = 0
    /// What was requested could not be fetched, shown or written, or not completely.
    case failure = 1
    /// The arguments are invalid.
    case usage = 2
    /// A server answered with a status other than 2xx.
    case refused = 3
}
