import Dunlin
import DunlinCommandLine
import DunlinDisplay
import Glibc

/// `dunlin download`: many files at once, each under a safe name, continued where an earlier run ended.
struct Downloads: Sendable {
    /// The URLs of the arguments.
    let items: [DownloadItem]
    let options: TransferOptions
    let output: Output

    private typealias Run = TransferRun<HTTPSession.DownloadedFile>
    private typealias Outcome = Transfer<HTTPSession.DownloadedFile>.Outcome

    func run() async throws -> ExitCode {
        let items = try allItems()
        guard let first = items.first else { throw UsageError(description: "the list has no URL") }
        try options.checkOrigins(items.map(\.url))
        let display = output.hidesWarnings ? nil : TerminalDisplay.ofEnds(on: DescriptorOutput(output.remarks))
        let configuration = try configuration(for: first.url, display)
        let session = try HTTPSession(configuration)
        let run = try self.run(of: items, in: session, display)
        let result = await run.run()
        await session.shutdown(grace: .seconds(10))
        await configuration.finishArchive(output)
        let code = TransferReport(run, result, output).tell()
        if run.transfers.contains(where: { $0.task.resumeData != nil }) {
            ResumeAdvice(output, of: CommandTable.text).tell(note: options.list == "-" ? ", with the same list" : "")
        }
        return code
    }

    private func allItems() throws -> [DownloadItem] {
        guard let list = options.list else { return items }
        let source: RequestOptions.DataSource = list == "-" ? .input : .file(list)
        let text = String(decoding: try source.read(), as: UTF8.self)
        return items + (try DownloadList.items(text, of: list == "-" ? "standard input" : list))
    }

    private func configuration(for url: String, _ display: TerminalDisplay?) throws -> HTTPSession.Configuration {
        var configuration = try Get(url: url, options: options.get, output: output).configuration()
        configuration.queue = .init(running: options.parallel, maximumWaiting: .max)
        options.tell(on: display, &configuration)
        return configuration
    }

    private func run(
        of items: [DownloadItem], in session: HTTPSession, _ display: TerminalDisplay?
    ) throws -> Run {
        let names = FileNames(items.map { $0.name ?? options.get.file ?? SavedName.ofURL($0.url) })
        let request = options.get.request
        let transfers = try items.enumerated().map { index, item in
            let bar = display.map { ProgressDisplay(names.known(at: index), on: $0) }
            let task = try session.downloadTask(
                HTTP.Target(try request.completed(item.url)), method: request.httpMethod, options: try request.options,
                to: destination(of: item, at: index, names, bar),
                transfer: .init(
                    overwrites: options.overwrites, createsFolders: options.folder != nil,
                    resuming: .ifValidatorMatches, digest: item.digest))
            return Transfer(title: URLWord.shown(item.url), task: task, bar: bar, direction: .download)
        }
        return Run(transfers: transfers, display: display) { index, result in
            await Self.outcome(of: result, items[index].digest, index, names)
        }
    }

    /// A name that is given is the name of one file. Any other is the server's to choose.
    private func destination(
        of item: DownloadItem, at index: Int, _ names: FileNames, _ bar: ProgressDisplay?
    ) -> HTTPSession.Destination {
        let folder = options.folder ?? "."
        if let file = options.get.file {
            return .file(file.hasPrefix("/") || options.folder == nil ? file : "\(folder)/\(file)")
        }
        if item.name != nil { return .file("\(folder)/\(names.known(at: index))") }
        return .folder(folder) { suggested, _ in
            let name = await names.name(at: index, suggested: suggested)
            bar?.rename(name)
            return name
        }
    }
}

// MARK: - Outcomes

extension Downloads {
    private static func outcome(
        of result: Result<HTTPSession.Response<HTTPSession.DownloadedFile>, any Error>, _ digest: ContentDigest?,
        _ index: Int, _ names: FileNames
    ) async -> Outcome {
        switch result {
        case .success: return await names.isBesideKept(index) ? ambiguous : .well
        case .failure(let error as NetworkError) where error.fileFailure?.errno == EEXIST:
            return await outcome(ofExisting: error, digest, index, names)
        case .failure(let error): return Transfer.outcome(of: error)
        }
    }

    private static var ambiguous: Outcome {
        .failed(
            "servers gave two files this name, and the one that was there already may be either; --overwrite "
                + "brings both", isRefusal: false)
    }

    /// A file that is there is what was wanted if it has the digest that was asked for or that the server told, or, if
    /// there is none, the length that the server told.
    private static func outcome(
        ofExisting error: NetworkError, _ digest: ContentDigest?, _ index: Int, _ names: FileNames
    ) async -> Outcome {
        guard let failure = error.fileFailure else { return Transfer.outcome(of: error) }
        if let path = failure.keptAt {
            return .failed("another program made the file meanwhile; this one is \(path)", isRefusal: false)
        }
        let advice = "--overwrite replaces it"
        guard let digest = digest ?? error.response?.digestOfWhole else {
            guard let length = error.response?.length, length == Self.length(of: failure.path) else {
                return .failed("another file of this name is there; \(advice)", isRefusal: false)
            }
            return await names.keep(index) ? .kept("it is there already, and has the right length") : ambiguous
        }
        do {
            if try await ContentDigest.ofFile(failure.path, digest.algorithm) == digest {
                return .kept("it is there already, and has the right digest")
            }
            return .failed("a file with another digest is there; \(advice)", isRefusal: false)
        } catch {
            return .failed("a file that cannot be read is there: \(error)", isRefusal: false)
        }
    }

    private static func length(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }
}

extension ResponseHead {
    /// The length of the whole file; nil if it is not told, or if the body is compressed.
    fileprivate var length: Int? {
        guard fields["content-encoding"] == nil else { return nil }
        if let range = fields["content-range"] { return range.split(separator: "/").last.flatMap { Int($0) } }
        return fields["content-length"].flatMap { Int($0) }
    }
}
