internal import DunlinReactor
internal import DunlinTransport

/// The part file, and the body that is written to it.
extension DownloadRun {
    /// Looks for what an earlier download left.
    mutating func findPart(_ sending: Sending) async throws {
        guard isResumable, download.keepsParts else { return }
        let finder = PartFinder(
            download: download, request: original, hasHook: sending.hasHook(\.destination))
        guard let (part, data) = try await finder.find(sending) else { return }
        self.part = part
        found = data
        source = data.source
        let next = part.content.gaps(upTo: data.completeLength ?? .max).first?.upperBound
        let isLast = next == nil || next == data.completeLength || data.completeLength == nil
        machine = ResumeMachine(goingOnWith: data, from: part.writer.position, upTo: isLast ? nil : next)
        resumedAt = part.content.byteCount
    }

    mutating func chooseDestination(_ head: ResponseHead, _ sending: Sending) async throws {
        if let refusal = download.refusal(of: head, sending.call), head.status != 416 { throw refusal }
        guard placement == nil else { return }
        let placement = try await DestinationChoice(sending, head).placement(download.destination)
        self.placement = placement
        let publication = Publication(placement: placement, options: options)
        try await onDisk(head) { () throws(HTTPSession.FileFailure) in try publication.checkTarget() }
    }

    /// Creates the file, or empties it.
    mutating func startOver(_ arrival: Sending.Arrival, _ sending: Sending) async throws {
        let head = arrival.response.head
        if written == .known { written = .other }
        if let refusal = download.refusal(of: head, sending.call) {
            throw await BodyBeginning.add(to: refusal, arrival.response.body, upTo: sending.call.reading.kept)
        }
        let length = arrival.response.body.length
        try check(length ?? 0, head)
        try await chooseDestination(head, sending)
        resumedAt = 0
        declared = digest(declaredBy: arrival)
        guard let placement else { return }
        if part == nil { part = try await makePart(placement, sending, head) }
        guard let part else { return }
        let isKept = keeps(part) && machine.isResumable && mayAskAgain(sending) && written != .unrelated
        let data = isKept ? resumeData(of: part, []) : nil
        let preallocated = options.preallocates ? length : nil
        found = nil
        try await onDisk(head) { () throws(HTTPSession.FileFailure) in
            try part.begin(data, length: preallocated)
        }
        if written == .other { written = .known }
    }

    /// Whether a later download can find the part by its name. A part that cannot be locked, or whose name was taken,
    /// can only be found by resume data.
    func keeps(_ part: DownloadPart) -> Bool {
        download.keepsParts && (part.isFindable || download.data != nil)
    }

    private func makePart(
        _ placement: Placement, _ sending: Sending, _ head: ResponseHead
    ) async throws -> DownloadPart {
        let keeps = download.keepsParts
        let (file, isFindable) = try await onDisk(head) { () throws(HTTPSession.FileFailure) in
            // A file that may be resumed must be found again, but by nobody while it is in use.
            if keeps, let file = try DownloadPart.claim(placement.partPath) { return (file, true) }
            return (try DownloadPart.make(in: placement), false)
        }
        SweptFolders.shared.sweep(placement.folder, on: .shared)
        do {
            return try DownloadPart(
                file, isFindable: isFindable, digest: (options.digest ?? declared)?.algorithm,
                pieces: download.pieces, on: sending.loop)
        } catch {
            await DiskThreads.shared.run { Publication.discard(file) }
            throw error
        }
    }

    /// Reads the whole body into the file. Returns nil if bytes are still missing.
    mutating func fill(
        _ arrival: Sending.Arrival, _ sending: inout Sending
    ) async throws -> Response? {
        guard let part else { return nil }
        let response = arrival.response
        if let plan = plan(arrival, sending, part) { return try await fill(by: plan, part, &sending) }
        let pump = DownloadPump(
            writer: part.writer, options: options, sending: sending, head: response.head, end: bodyLimit)
        let before = part.content.contents
        do {
            // Off the loop, since decoding takes time and others wait on the loop.
            if arrival.isChanged {
                try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
                    _ = try await pump.run(response.body)
                }
            } else {
                try await pump.run(response.body)
            }
        } catch let overrun as DownloadPump.Overrun {
            await flush(part)
            part.content.goBack(to: before)
            throw overrun.error
        } catch {
            await flush(part)
            try await goOn(after: error, &sending)
            return nil
        }
        machine.wrote(upTo: part.writer.position)
        guard isResumable, written != .unrelated else { return try await finish(response, sending) }
        switch machine.ended() {
        case .complete: return try await finish(response, sending)
        case .askAgain: try leaveToAskAgain(response, &sending)
        case .tooShort:
            try await goOn(
                after: Self.failure(.connectionClosed, "the body is shorter than the server announced", response),
                &sending)
        case .tooManySmallPieces: throw Self.failure(.invalidResponse, ResumeMachine.Rules.smallPieceReason, response)
        }
        return nil
    }

    private static func failure(
        _ code: NetworkError.Code, _ reason: String, _ response: TransportResponse
    ) -> NetworkError {
        NetworkError(code, reason, phase: .receive, requestMayHaveBeenSent: true, response: response.head)
    }

    /// The end that the body must have; nil for a body that cannot be resumed, whose framing determines its end.
    private var bodyLimit: Int? { isResumable && written != .unrelated ? machine.bodyLimit : nil }

    /// Writes the bytes that have come, which count as far as they are written. It waits only for the disk.
    mutating func flush(_ part: DownloadPart) async {
        // An error of the disk has been or will be reported elsewhere.
        do throws(Errno) { _ = try await part.writer.flush(until: .never, nil) } catch {}
        machine.wrote(upTo: part.writer.position)
    }

    private func check(_ length: Int, _ head: ResponseHead) throws {
        guard let limit = options.bodyLimit, length > limit else { return }
        throw NetworkError(
            .limitExceeded, "the body has more than \(limit) bytes, the download's `bodyLimit`", phase: .receive,
            requestMayHaveBeenSent: true, response: head)
    }

    /// Runs work on a disk thread, and turns a file system's error into one about the download.
    private func onDisk<Value: Sendable>(
        _ head: ResponseHead?, _ work: @escaping @Sendable () throws(HTTPSession.FileFailure) -> Value
    ) async throws -> Value {
        let outcome: Result<Value, HTTPSession.FileFailure> = await DiskThreads.shared.run {
            do throws(HTTPSession.FileFailure) { return .success(try work()) } catch { return .failure(error) }
        }
        do throws(HTTPSession.FileFailure) {
            return try outcome.get()
        } catch {
            let isFolderMissing = Errno(rawValue: error.errno) == .noSuchFile && !options.createsFolders
            let reason = "the file cannot be created" + (isFolderMissing ? "; `createsFolders` makes its folder" : "")
            throw error.error(.fileNotCreated, reason, head)
        }
    }
}

extension TransportResponse.Body {
    /// The body's length; nil if it is not known.
    var length: Int? {
        switch self {
        case .bytes(let bytes): bytes.count
        case .stream(let stream): stream.expectedLength
        }
    }
}
