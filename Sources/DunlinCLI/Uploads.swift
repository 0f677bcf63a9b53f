import Dunlin
import DunlinCommandLine
import DunlinDisplay
import DunlinTypes

/// `dunlin upload`: a file as the body of a PUT, or files as parts of a form. Several files without a form are sent at
/// once, each to its own name below the URL.
struct Uploads: Sendable {
    let files: [String]
    let url: String
    let options: TransferOptions
    let output: Output

    private typealias Run = TransferRun<Bytes>

    func run() async throws -> ExitCode {
        if files.count > 1, options.get.request.form.isEmpty { return try await runSeveral() }
        var single = options.get
        if single.request.form.isEmpty {
            single.request.upload = files.first.map { $0 == "-" ? .input : .file($0) }
        } else {
            single.request.form += files.map { FormPart("file", .file(path: $0, name: nil, type: nil)) }
        }
        return try await Get(url: url, options: single, output: output).run()
    }

    private func runSeveral() async throws -> ExitCode {
        let display = output.hidesWarnings ? nil : TerminalDisplay.ofEnds(on: DescriptorOutput(output.remarks))
        var configuration = try Get(url: url, options: options.get, output: output).configuration()
        configuration.queue = .init(running: options.parallel, maximumWaiting: .max)
        options.tell(on: display, &configuration)
        let session = try HTTPSession(configuration)
        let transfers = try files.map { try transfer(of: $0, in: session, display) }
        let run = Run(transfers: transfers, display: display) { _, result in
            switch result {
            case .success: .well
            case .failure(let error): Transfer<Bytes>.outcome(of: error)
            }
        }
        let result = await run.run()
        await session.shutdown(grace: .seconds(10))
        await configuration.finishArchive(output)
        return TransferReport(run, result, output).tell()
    }

    private func transfer(
        of file: String, in session: HTTPSession, _ display: TerminalDisplay?
    ) throws -> Transfer<Bytes> {
        var request = options.get.request
        request.upload = .file(file)
        var body = try request.body()
        if let rate = options.get.rate {
            // Those that run at once share it.
            let share = rate.bytesPerSecond / min(options.parallel, files.count)
            body = try body.throttled(Rate(share).throttle)
        }
        let task = try session.task(
            HTTP.Target(try request.completed(url)), method: request.httpMethod, body: body,
            options: try request.options, as: .bytes)
        let name = file.parts(at: UInt8(ascii: "/")).last { !$0.isEmpty }.map(String.init) ?? file
        return Transfer(
            title: file, task: task, bar: display.map { ProgressDisplay(name, on: $0) }, direction: .upload)
    }
}
