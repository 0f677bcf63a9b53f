internal import Dunlin
internal import Glibc

/// A command: parses its arguments, does one thing, and returns an exit code.
package protocol Program {
    associatedtype Command

    /// The table of its commands and options.
    static var text: ProgramText { get }

    /// Parses all of the arguments before anything is done.
    static func command(of arguments: [String]) throws(UsageError) -> Command
    static func run(_ command: Command, _ output: Output) async -> ExitCode

    /// The output as the command's options want it.
    static func output(for command: Command, _ output: Output) -> Output
}

extension Program {
    package static var name: String { text.name }
    package static var version: String { LibraryVersion.number }

    package static func output(for command: Command, _ output: Output) -> Output { output }

    /// Runs the command and exits with its code.
    package static func start() async {
        var output = Output(of: name)
        do throws(UsageError) {
            let command = try command(of: try Arguments.texts())
            output = self.output(for: command, output)
            end(output.end(await run(command, output)))
        } catch {
            output.complain(error.description)
            exit(ExitCode.usage.rawValue)
        }
    }

    /// Ends as a shell expects: by the signal if there was one, so that its script ends too.
    private static func end(_ code: ExitCode) -> Never {
        if let signal = code.signal {
            Glibc.signal(signal, SIG_DFL)
            // The threads of tasks block it.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, signal)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            raise(signal)
        }
        exit(code.rawValue)
    }
}
