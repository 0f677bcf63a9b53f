/// What the command says to the shell.
enum ExitCode: Int32 {
    case success = 0
    /// No response, or not all of it.
    case failure = 1
    /// The arguments make no sense.
    case usage = 2
    /// A response came whole, with a status other than 2xx.
    case refused = 3
}
