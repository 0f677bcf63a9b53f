internal import DunlinTypes
internal import Glibc

/// A command: reads its arguments, does one thing, and says by its exit code how that went.
package protocol Program {
    associatedtype Command

    static var name: String { get }

    /// What the arguments ask for, read as a whole before anything is done.
    static func command(of arguments: [String]) throws(UsageError) -> Command
    static func run(_ command: Command, _ output: Output) async -> ExitCode
}

extension Program {
    package static var version: String { LibraryVersion.number }

    /// Ends the program with what its run says.
    package static func start() async {
        let output = Output(of: name)
        do throws(UsageError) {
            let command = try command(of: Array(CommandLine.arguments.dropFirst()))
            exit(await run(command, output).rawValue)
        } catch {
            output.complain(error.description)
            exit(ExitCode.usage.rawValue)
        }
    }
}
