/// What the command says to the shell.
enum ExitCode: Int32 {
    case success = 0
    /// A picture did not come, or could not be read, shown or written.
    case failure = 1
    /// The arguments make no sense.
    case usage = 2
    /// A server answered with a status other than 2xx.
    case refused = 3
}
