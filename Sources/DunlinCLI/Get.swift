import Dunlin
import DunlinDisplay

/// `dunlin get`: the body to standard output as it arrives, or to a file with a bar to look at.
struct Get {
    let url: String
    let options: Command.GetOptions
    let output: Output

    func run() async throws -> ExitCode {
        var configuration = options.trust.configuration(for: url)
        configuration.securityWarningHandler = { [output] warning in output.remark("dunlin: warning: \(warning)") }
        if options.retries > 0 {
            configuration.retry = .exponential(attempts: options.retries + 1, base: .seconds(1), cap: .seconds(60))
            configuration.hooks.willRetry = { [output] _, retry in
                output.remark("dunlin: \(retry.cause); trying again in \(retry.wait.readable)")
            }
        }
        let session = try HTTPSession(configuration)
        let code = if let file = options.file { try await download(file, session) } else { try await write(session) }
        await session.shutdown()
        return code
    }

    private func write(_ session: HTTPSession) async throws -> ExitCode {
        try await session.withResponse(from: HTTP.Target(url)) { response in
            if options.showsHead { printHead(response.head) }
            var count = 0
            for try await piece in response.body {
                output.write(piece)
                count += piece.count
            }
            if options.isVerbose { remark(on: response, count) }
            if response.status.isSuccess { return ExitCode.success }
            output.complain("the server answered \(statusLine(response.head))")
            return .refused
        }
    }

    /// A file that is there already is replaced once the new one is whole.
    private func download(_ file: String, _ session: HTTPSession) async throws -> ExitCode {
        let task = try session.downloadTask(
            HTTP.Target(url), to: .file(file), transfer: .init(overwrites: true))
        let display = TerminalDisplay(on: DescriptorOutput(output.remarks))
        ProgressDisplay(file, on: display).follow(task)
        let result = await task.result
        await display.finish()
        let response: HTTPSession.Response<HTTPSession.DownloadedFile>
        do {
            response = try result.get()
        } catch let error as NetworkError where error.code == .unacceptableStatus {
            output.complain(Complaint.lines(of: error))
            return .refused
        }
        if options.showsHead { printHead(response.head) }
        if options.isVerbose { output.remark(response.metrics.description) }
        return .success
    }

    private func printHead(_ head: ResponseHead) {
        output.print(statusLine(head))
        for field in head.fields { output.print("\(field.name): \(field.value)") }
        output.print()
    }

    private func statusLine(_ head: ResponseHead) -> String {
        head.reason.isEmpty ? "\(head.status)" : "\(head.status) \(String(head.reason))"
    }

    private func remark(on response: HTTPSession.StreamedResponse, _ count: Int) {
        output.remark("\(statusLine(response.head)), \(count.readableBytes)")
        if let security = response.metrics.hops.last?.security { output.remark(text(of: security)) }
        output.remark(response.metrics.description)
    }

    /// How the connection is secured, and by whose word.
    private func text(of security: TransportSecurity) -> String {
        let names = security.verifiedPath.map(\.details.subject).joined(separator: " < ")
        return "\(security.version), \(security.cipher), \(names)"
    }
}
