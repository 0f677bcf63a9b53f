import DunlinCommandLine

/// The `dunlin` command.
struct DunlinCommand: Program {
    static let text = CommandTable.text

    static func command(of arguments: [String]) throws(UsageError) -> Command { try Command(arguments: arguments) }

    static func output(for command: Command, _ output: Output) -> Output {
        guard let options = command.printing else { return output }
        var output = output
        output.hidesWarnings = options.isSilent
        output.hidesErrors = options.isSilent && !options.showsErrors
        output.keepsLastLineOpen = options.print.isRaw
        return output
    }

    static func run(_ command: Command, _ output: Output) async -> ExitCode {
        let output = Self.output(for: command, output)
        do {
            switch command {
            case .page(let page):
                output.print(page.text(of: text, columns: output.screen.columns))
                return .success
            case .demo:
                let demo = Demo(output)
                let running = Task { try await demo.run() }
                let (result, signal) = await Interruption.during {
                    await running.result
                } stop: {
                    running.cancel()
                }
                if let signal { return signal.code }
                try result.get()
                return .success
            case .get(let url, let options):
                return try await Get(url: url, options: options, output: output).run()
            case .download(let items, let options):
                return try await Downloads(items: items, options: options, output: output).run()
            case .upload(let files, let url, let options):
                return try await Uploads(files: files, url: url, options: options, output: output).run()
            case .reachability(let host, let observes):
                return try await Reaching(host: host, observes: observes, output: output).run()
            case .cache(let operation):
                return await StoreCommand(operation: operation, output: output).run()
            case .session(let operation):
                return try SessionCommand(operation: operation, output: output).run()
            case .har(let file):
                return try ArchiveCommand(file: file, output: output).run()
            }
        } catch let error as UsageError {
            output.complain(error.description)
            return .usage
        } catch is OutputFailure {
            // `Program.start` says it.
            return .unwritten
        } catch {
            output.complain(ErrorText.lines(of: error))
            return ExitCode(error)
        }
    }
}

extension Command {
    /// The options that say what is printed; nil for a command without them.
    fileprivate var printing: GetOptions? {
        switch self {
        case .get(_, let options): options
        case .download(_, let options), .upload(_, _, let options): options.get
        default: nil
        }
    }
}
