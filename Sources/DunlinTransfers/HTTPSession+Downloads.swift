internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// Requests whose response is written to a file.
extension HTTPSession {
    /// Downloads to a file.
    ///
    /// ```swift
    /// let file = try await client.download("images/disk.img", to: .file("/data/disk.img")) { step in
    ///     show(step.fraction)
    /// }
    /// print(file.value.path, file.value.byteCount)
    /// ```
    ///
    /// A status other than 2xx is an error that has the beginning of the body, unless `options.validatesResponse` says
    /// otherwise. The file is written beside its destination, where it appears in one step when it is complete; a
    /// download that fails or is cancelled leaves nothing. Throws a `NetworkError` with code `fileNotCreated`,
    /// `fileNotWritten` or `fileNotMoved` if the file system refuses; `fileFailure` says what and why.
    ///
    /// A download by a method other than GET, or with a body, starts over where a GET would continue, since servers
    /// offer no ranges of computed responses.
    ///
    /// `resuming`, if it is given, overrides `transfer.resuming`. `progress` is called at once, whenever the progress
    /// has changed since it last returned, and at the end.
    @discardableResult
    public func download(
        _ target: HTTP.Target, method: HTTP.Method = .get, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody = .none, json: (any Encodable)? = nil,
        timeout: Duration? = nil, options: Options = Options(), to destination: Destination,
        resuming: Resuming? = nil, transfer: DownloadOptions = DownloadOptions(),
        progress: ProgressHandler? = nil
    ) async throws -> Response<DownloadedFile> {
        var transfer = transfer
        if let resuming { transfer.resuming = resuming }
        let arguments = Arguments(
            target: target, method: method, query: query, body: try self.body(body, json),
            options: options.with(fields, timeout))
        return try await run(Download(to: destination.anchored, transfer), arguments, progress)
    }

    /// Creates a download with a handle. It begins when it is resumed or awaited. `resuming`, if it is given, overrides
    /// `transfer.resuming`.
    public func downloadTask(
        _ target: HTTP.Target, method: HTTP.Method = .get, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody = .none, json: (any Encodable)? = nil,
        timeout: Duration? = nil, options: Options = Options(), to destination: Destination,
        resuming: Resuming? = nil, transfer: DownloadOptions = DownloadOptions()
    ) throws -> RequestTask<DownloadedFile> {
        var transfer = transfer
        if let resuming { transfer.resuming = resuming }
        let arguments = Arguments(
            target: target, method: method, query: query, body: try self.body(body, json),
            options: options.with(fields, timeout))
        return try task(Download(to: destination.anchored, transfer), arguments)
    }

    /// Continues a cancelled download. `newURL` is another URL of the same file, such as a newly signed one; the server
    /// is asked whether the file is the same.
    ///
    /// If the file has changed, all of it is downloaded. Throws a `NetworkError` with code `invalidResumeData` if the
    /// part file is gone or damaged, unless `transfer.startsOverIfDamaged` says otherwise.
    @discardableResult
    public func download(
        resumeData: ResumeData, from newURL: HTTP.Target? = nil, options: Options = Options(),
        to destination: Destination, transfer: DownloadOptions = DownloadOptions(),
        progress: ProgressHandler? = nil
    ) async throws -> Response<DownloadedFile> {
        let download = Download(to: destination.anchored, transfer, resuming: resumeData)
        let options = try self.options(options, toResume: resumeData, from: newURL)
        return try await run(download, Arguments(target: newURL ?? .url(resumeData.url), options: options), progress)
    }

    /// Creates a download with a handle, which continues a cancelled one.
    public func downloadTask(
        resumeData: ResumeData, from newURL: HTTP.Target? = nil, options: Options = Options(),
        to destination: Destination, transfer: DownloadOptions = DownloadOptions()
    ) throws -> RequestTask<DownloadedFile> {
        let download = Download(to: destination.anchored, transfer, resuming: resumeData)
        let options = try self.options(options, toResume: resumeData, from: newURL)
        return try task(download, Arguments(target: newURL ?? .url(resumeData.url), options: options))
    }

    /// The options, with the fields of the data that they do not set. As with a redirect, another origin gets none that
    /// are secret here.
    private func options(_ options: Options, toResume data: ResumeData, from newURL: HTTP.Target?) throws -> Options {
        var (options, former) = (options, data.fields)
        if let newURL {
            let next = try core.call(.get, newURL, options: options, isObserved: false).head.origin
            let origin = try WebAddress(data.url).origin
            if !origin.isSame(as: next) {
                former = options.allowed(former, from: origin, to: next, configuration)
            }
        }
        options.fields = former.overlaid(with: options.fields)
        return options
    }
}

extension HTTPSession.RequestTask<HTTPSession.DownloadedFile> {
    /// Cancels the download and keeps the unfinished file. Returns the data to resume from; nil if nothing has come
    /// yet, if the server gave nothing to recognise the file by, or if the download is over.
    ///
    /// The bytes are in a part file that belongs to the resume data. If you do not resume, remove it.
    public func cancelProducingResumeData() async -> ResumeData? {
        left?.want()
        cancel()
        _ = await settlement.value
        return resumeData
    }

    /// The resume data that an ended download left; nil if there is none.
    public var resumeData: ResumeData? {
        guard case .failure = resultIfEnded else { return nil }
        return left?.data
    }

    private var left: Leftover? { leftover as? Leftover }
}

extension NetworkError {
    /// The resume data that a failed download left; nil if there is none.
    public var resumeData: ResumeData? { leftover as? ResumeData }
}

// MARK: - Running

extension HTTPSession {
    /// What a download requests.
    private struct Arguments {
        let target: HTTP.Target
        var method = HTTP.Method.get
        var query = HTTP.Query()
        var body = RequestBody.none
        let options: Options
    }

    private func run(
        _ download: Download, _ arguments: Arguments, _ progress: ProgressHandler?
    ) async throws -> Response<DownloadedFile> {
        let call = try downloadCall(download, arguments, progress)
        return try await TaskDelegate(call).run(call, into: download)
    }

    private func task(_ download: Download, _ arguments: Arguments) throws -> RequestTask<DownloadedFile> {
        try handle(for: downloadCall(download, arguments, nil), into: download, leaving: download.leftover)
    }

    private func downloadCall(_ download: Download, _ arguments: Arguments, _ progress: ProgressHandler?) throws -> Call
    {
        try download.options.segments?.validate()
        return try core.call(
            arguments.method, arguments.target, query: arguments.query, body: arguments.body,
            options: arguments.options.with(Fields(), nil, download: progress), kind: .download, isObserved: true)
    }
}
