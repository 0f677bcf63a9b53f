package import DunlinCommandLine

/// What other modules reach of the command: the program runs it, and a fuzzer gives it arguments.
package enum CommandEntry {
    /// Prepares the process. Call it first.
    package static func prepare() { StandardDescriptors.occupy() }

    /// Runs the command that the process was asked for, and exits.
    package static func start() async { await Interruption.$isCaught.withValue(true) { await DunlinCommand.start() } }

    /// The URL that the arguments ask for, with what they add to it; nil if they ask for no request, or if a file is to
    /// be read for it. Nothing is read or sent.
    package static func requestedURL(_ arguments: [String]) throws(UsageError) -> String? {
        guard case .get(let url, let options) = try Command(arguments: arguments) else { return nil }
        if options.request.putsDataInURL { return nil }
        do { return try options.request.completed(url) } catch { return nil }
    }
}
