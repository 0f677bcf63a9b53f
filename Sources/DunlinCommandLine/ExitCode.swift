/// What a command says to the shell.
package enum ExitCode: Int32, Sendable {
    case success = 0
    /// What was asked for could not be got, shown or written, or not all of it.
    case failure = 1
    /// The arguments make no sense.
    case usage = 2
    /// A server answered with a status other than 2xx.
    case refused = 3
}
