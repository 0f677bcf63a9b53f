import Dunlin
import Glibc

/// The `dunlin` command: reads its arguments, does one thing, and says by its exit code how that went.
@main
struct DunlinCommand {
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
        do {
            switch command {
            case .help:
                output.print(Help.text)
                return .success
            case .version:
                output.print("dunlin \(version)")
                return .success
            case .demo:
                try await Demo(output).run()
                return .success
            case .get(let url, let options):
                return try await Get(url: url, options: options, output: output).run()
            case .reachability(let host, let watches):
                return try await Reaching(host: host, watches: watches, output: output).run()
            case .cache(let deed):
                return await StoreCommand(deed: deed, output: output).run()
            }
        } catch let error as UsageError {
            output.complain(error.description)
            return .usage
        } catch {
            output.complain(Complaint.lines(of: error))
            return .failure
        }
    }
}
