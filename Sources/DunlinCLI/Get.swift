import Dunlin
import DunlinCommandLine
import DunlinDisplay

/// `dunlin get` and similar: the body to standard output as it arrives, or to a file with a progress bar.
struct Get {
    var url: String
    var options: Command.GetOptions
    let output: Output
    /// The folder of the sessions; nil for the user's own.
    var sessions: SessionFolder?
    /// Counted only if a report wants it.
    private let redirects = TransferFacts.Redirects()

    private var request: RequestOptions { options.request }
    /// What is sent, as slowly as it should be.
    private var body: RequestBody {
        get throws {
            let body = try request.body()
            return try options.rate.map { try body.throttled($0.throttle) } ?? body
        }
    }
    private var target: HTTP.Target { get throws { HTTP.Target(try request.completed(url)) } }
    /// Where no body is asked for there is nothing else to show.
    private var showsHead: Bool { options.showsHead || request.httpMethod == .head || request.asksHeadOnly }

    func run() async throws -> ExitCode {
        var get = self
        get.options.request = try request.readingBearer()
        let kept = try get.kept()
        get.url = kept.sent(url)
        if request.printsCurl {
            try get.options.request.addCookies(try kept.cookieText(for: try request.completed(url)))
        }
        return try await get.run(kept)
    }

    private func run(_ kept: KeptState) async throws -> ExitCode {
        let configuration = try configuration(kept)
        let session = try HTTPSession(configuration)
        let code: Result<ExitCode, any Error>
        do { code = .success(try await run(in: session)) } catch { code = .failure(error) }
        // Only requests that update the cache after a stale response was served are still running. What is to be stored
        // is written even if the command fails.
        await session.shutdown(grace: .seconds(10))
        await configuration.cache?.close()
        await configuration.finishArchive(output)
        return try await kept.store(after: code)
    }

    private func run(in session: HTTPSession) async throws -> ExitCode {
        if request.printsCurl { return try printCurl(session) }
        if request.isOffline { return try await write(session, output, nil) }
        guard request.traces else { return try await send(in: session) }
        let (trace, printer) = (session.trace(), TracePrinter(output))
        async let reporting: Void = printer.print(trace)
        let code: Result<ExitCode, any Error>
        do { code = .success(try await send(in: session, printer)) } catch { code = .failure(error) }
        // The trace ends with the session, and is shown before the result.
        await session.shutdown()
        await reporting
        return try code.get()
    }

    private func send(in session: HTTPSession, _ trace: TracePrinter? = nil) async throws -> ExitCode {
        switch options.file.map(OutputTarget.init) {
        case nil: return try await recorded { try await write(session, output, trace) }
        case .file(let file): return try await download(file, session)
        case .stream(let path):
            if options.continues { throw UsageError(description: "-C needs a regular file, and \(path) is not one") }
            return try await OutputTarget.writing(to: path, output) { output in
                try await recorded { try await write(session, output, trace) }
            }
        }
    }

    private func printCurl(_ session: HTTPSession) throws -> ExitCode {
        let task = try session.task(
            try target, method: request.httpMethod, body: try request.body(), options: try request.options)
        // It cannot affect a terminal, and with anything left out it would be another command.
        output.write(Bytes(Array("\(task.curl(showingSecrets: request.showsSecrets))\n".utf8)))
        return .success
    }

    func configuration(_ kept: KeptState? = nil) throws -> HTTPSession.Configuration {
        try options.trust.checkFiles()
        try options.route.checkFiles()
        var configuration = options.trust.configuration(for: url)
        // A large file takes as long as it takes: -m is what limits the whole.
        configuration.timeouts.total = nil
        options.route.apply(to: &configuration)
        configuration.fields["User-Agent"] = HTTPSession.Configuration.userAgent(
            program: DunlinCommand.name, version: DunlinCommand.version)
        if let name = request.userAgent { configuration.fields["User-Agent"] = name.isEmpty ? nil : name }
        for name in request.leftOut { configuration.fields[name] = nil }
        if let limit = options.redirects { configuration.redirects = limit == 0 ? .never : .init(limit: limit) }
        if request.isOffline {
            configuration.transport = Offline(
                showsSecrets: request.showsSecrets, print: options.print, output: output)
        } else if options.usesCache {
            configuration.cache = StoreCommand.cache(warning: output)
        }
        try (kept ?? self.kept()).apply(to: &configuration)
        warnOfUserInfo()
        if let rate = options.rate {
            let pace = Pace(rate)
            configuration.hooks.data = { _, piece in await pace.wait(for: piece.count) }
        }
        configuration.securityWarningHandler = { [output] warning in output.warn("\(warning)") }
        if options.retries > 0 {
            configuration.retry = .exponential(attempts: options.retries + 1, base: .seconds(1), cap: .seconds(60))
            configuration.hooks.retrying = { [output] _, retry in
                if output.hidesWarnings { return }
                output.remark("dunlin: \(retry.cause); trying again in \(retry.wait.readable)")
            }
        }
        if options.report != nil { configuration.observers.append(redirects) }
        if let archive = options.archive { try configuration.record(into: archive) }
        return configuration
    }

    /// Warns of a password in the URL that may be read on its way.
    private func warnOfUserInfo() {
        let authority = url.drop { $0 != ":" }.dropFirst(3).prefix { !"/?#".contains($0) }
        guard authority.contains("@"), url.prefix(5).lowercased() == "http:", !request.sendsNothing else { return }
        output.warn("over http the password can be read on its way if the server asks for Basic")
    }

    private func write(_ session: HTTPSession, _ output: Output, _ trace: TracePrinter?) async throws -> ExitCode {
        let bar =
            output.hidesWarnings || request.isOffline
            ? nil : request.uploadTitle.flatMap { UploadBar($0, on: output.remarks) }
        do {
            return try await write(session, output, trace, bar)
        } catch {
            await bar?.end()
            let cause = (error as? NetworkError)?.underlying ?? error
            guard request.isOffline, cause is BinaryBody else { throw error }
            output.complain("the body is binary, which would disturb the terminal; --raw prints it even so")
            return .unwritten
        }
    }

    private func write(
        _ session: HTTPSession, _ output: Output, _ trace: TracePrinter?, _ bar: UploadBar?
    ) async throws -> ExitCode {
        var settings = try request.options
        if let bar { settings.hooks.uploadProgress = { await bar.show($1) } }
        var isReported = false
        let ending: (remarks: [String], complaints: [String], code: ExitCode)
        do {
            ending = try await session.withResponse(
                from: try target, method: request.httpMethod, body: try body, options: settings
            ) { response in
                // The transport has printed all there is.
                if request.isOffline { return ([], [], .success) }
                await bar?.end()
                await trace?.beginBody(after: response.metrics.hops)
                let printed: Result<Int, any Error>
                do { printed = .success(try await print(response, output)) } catch { printed = .failure(error) }
                await trace?.endBody()
                report(TransferFacts(response))
                isReported = true
                return try self.ending(of: response, printed)
            }
        } catch let error as NetworkError where !isReported {
            report(TransferFacts(error, of: url, redirects))
            throw error
        }
        if let trace {
            // The trace ends with the session.
            await session.shutdown()
            await trace.end()
        }
        for line in ending.remarks { output.remark(line) }
        for line in ending.complaints { output.complain(line) }
        return ending.code
    }

    /// What is said of a response, and the exit code.
    private func ending(
        of response: HTTPSession.StreamedResponse, _ printed: Result<Int, any Error>
    ) throws -> (remarks: [String], complaints: [String], ExitCode) {
        var (remarks, complaints, code) = ([String](), [String](), ExitCode.success)
        do {
            let count = try printed.get()
            if options.isVerbose { remarks = self.remarks(on: response, count) }
        } catch let error as BinaryBody {
            complaints = [error.description]
            code = .unwritten
        }
        if !response.status.isSuccess {
            complaints.append("the server answered \(HeadText.statusLine(response.head))")
            code = .refused
        }
        return (remarks, complaints, code)
    }

    /// Prints the head, if it is asked for, and the body as it arrives. Returns the number of the body's bytes.
    private func print(_ response: HTTPSession.StreamedResponse, _ body: Output) async throws -> Int {
        if showsHead { printHead(response.head) }
        if response.status == .partialContent, let coding = response.fields["Content-Encoding"] {
            output.warn("the part is compressed (\(coding)) and cannot be decompressed alone: it is written as it came")
        }
        if options.hidesRefusals, response.status.code >= 400 { return 0 }
        // By another method than HEAD a body may follow, which nobody asked for.
        if request.asksHeadOnly { return 0 }
        var printer = BodyPrinter(
            contentType: response.fields["Content-Type"], options: options.print, screen: body.screen)
        var count = 0
        do {
            for try await piece in response.body {
                body.write(try printer.take(piece))
                try body.check()
                count += piece.count
            }
        } catch {
            body.write(printer.end())
            throw error
        }
        body.write(printer.end())
        try body.check()
        return count
    }

    /// Downloads to a file. An existing file is replaced when the new one is complete. What is there of it when the
    /// download ends early stays, if it can be continued.
    private func download(_ file: String, _ session: HTTPSession) async throws -> ExitCode {
        let task = try session.downloadTask(
            try target, method: request.httpMethod, body: try body, options: try request.options,
            to: .file(file), transfer: .init(overwrites: true, resuming: .ifValidatorMatches))
        let display = output.hidesWarnings ? nil : TerminalDisplay.ofEnds(on: DescriptorOutput(output.remarks))
        if let display { ProgressDisplay(options.file ?? file, on: display).follow(task) }
        let (result, signal) = await Interruption.during {
            await task.result
        } stop: {
            task.cancel()
        }
        await display?.finish()
        let response: HTTPSession.Response<HTTPSession.DownloadedFile>
        do {
            response = try result.get()
        } catch let error as NetworkError where error.code == .unacceptableStatus {
            report(TransferFacts(error, of: url, redirects))
            // The line of the display says it.
            if display == nil { output.complain(ErrorText.lines(of: error)) }
            return .refused
        } catch {
            let code = signal?.code ?? ExitCode(error)
            let isFull = (error as? NetworkError)?.fileFailure?.meansNoSpace == true
            // The line of the display says all of a full disk.
            if signal == nil, display == nil || !isFull { output.complain(ErrorText.lines(of: error)) }
            if signal == nil, let error = error as? NetworkError {
                report(TransferFacts(error, of: url, redirects))
            }
            if task.resumeData != nil {
                ResumeAdvice(output, of: CommandTable.text).tell(adding: [(["-C", "--continue-at"], ["-C", "-"])])
            }
            return code
        }
        if showsHead { printHead(response.head) }
        if options.isVerbose { output.remark(response.metrics.description) }
        report(TransferFacts(response))
        return .success
    }

    /// Prints what `-w` asks for, unless a signal has ended the request.
    private func report(_ facts: TransferFacts) {
        if let report = options.report, !Task.isCancelled { output.write(Bytes(report.text(of: facts))) }
    }

    private func printHead(_ head: ResponseHead) {
        for line in HeadText.lines(of: head) { output.print(line) }
    }

    private func remarks(on response: HTTPSession.StreamedResponse, _ count: Int) -> [String] {
        var lines = ["\(HeadText.statusLine(response.head)), \(count.readableBytes)"]
        if let use = response.cacheUse { lines.append("cache: \(use)") }
        if let security = response.metrics.hops.last?.security { lines.append(text(of: security)) }
        return lines + [response.metrics.description]
    }

    /// How the connection is secured, and who vouches for it.
    private func text(of security: HTTP.ConnectionSecurity) -> String {
        let names = security.verifiedPath.map(\.details.subject).joined(separator: " < ")
        return "\(security.version), \(security.cipher), \(names)"
    }
}
