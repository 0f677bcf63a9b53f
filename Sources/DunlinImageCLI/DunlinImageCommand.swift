import DunlinCommandLine

/// The `dunlin-image` command, which shows pictures.
@main
struct DunlinImageCommand: Program {
    static let text = CommandTable.text

    static func main() async {
        // Before anything opens a descriptor, as the first wait does.
        StandardDescriptors.occupy()
        await start()
    }

    static func command(of arguments: [String]) throws(UsageError) -> Command { try Command(arguments: arguments) }

    static func run(_ command: Command, _ output: Output) async -> ExitCode {
        switch command {
        case .page(let page):
            output.print(page.text(of: text, columns: output.screen.columns))
            return .success
        case .show(let sources, let options):
            do {
                return try await Show(sources: sources.map(PictureSource.init), options: options, output: output).run()
            } catch is OutputFailure {
                // `Program.start` says it.
                return .unwritten
            } catch {
                output.complain("\(error)")
                return .failure
            }
        }
    }
}
