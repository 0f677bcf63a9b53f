import Dunlin
import DunlinImages
import Glibc

/// The `dunlin-image` command: reads its arguments, shows pictures, and says by its exit code how that went.
@main
struct DunlinImageCommand {
    static let version = "0.1.0"

    static func main() async {
        let output = Output()
        do throws(UsageError) {
            let command = try Command(arguments: Array(CommandLine.arguments.dropFirst()))
            exit(await run(command, output).rawValue)
        } catch {
            output.complain(error.description)
            exit(ExitCode.usage.rawValue)
        }
    }

    static func run(_ command: Command, _ output: Output) async -> ExitCode {
        switch command {
        case .help:
            output.print(Help.text)
            return .success
        case .version:
            output.print("dunlin-image \(version)")
            return .success
        case .show(let sources, let options):
            do {
                return try await Show(sources: sources.map(PictureSource.init), options: options, output: output).run()
            } catch {
                output.complain("\(error)")
                return .failure
            }
        }
    }
}
