internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// Takes a response's body into a file: decides where it goes, writes it beside that, and gives it its name when it is
/// whole. Until then nothing can be seen at the destination, and nothing stays behind when it comes to nothing.
struct Download: Intake {
    private let destination: HTTPSession.Destination
    private let options: HTTPSession.DownloadOptions
    private var disk: DiskThreads { .shared }

    init(to destination: HTTPSession.Destination, _ options: HTTPSession.DownloadOptions = .init()) {
        self.destination = destination
        self.options = options
    }

    func body(of response: HTTPSession.Response<HTTPSession.DownloadedFile>) -> Bytes? { nil }

    func take(_ exchange: inout WatchedExchange) async throws -> HTTPSession.Response<HTTPSession.DownloadedFile> {
        try await take(exchange.send(), &exchange)
    }

    func take(
        _ arrival: WatchedExchange.Arrival, _ exchange: inout WatchedExchange
    ) async throws -> HTTPSession.Response<HTTPSession.DownloadedFile> {
        let head = arrival.response.head
        if let refusal = refusal(of: head, exchange.call) {
            throw exchange.trail.explained(await BodyBeginning.add(to: refusal, arrival.response.body))
        }
        do {
            let placement = try await DestinationChoice(exchange, head).placement(destination)
            return try await write(arrival, Publication(placement: placement, options: options), exchange)
        } catch {
            throw exchange.trail.explained(error)
        }
    }

    /// Why a response is not taken at all; its body goes to the error and to no file.
    private func refusal(of head: ResponseHead, _ call: HTTPSession.Call) -> NetworkError? {
        guard call.options.validatesResponse else { return nil }
        if !head.status.isSuccess {
            let reason = "the server answered \(head.status)"
            return NetworkError(.unacceptableStatus, reason, requestMayHaveBeenSent: true, response: head)
        }
        let declared = head.fields["content-type"]
        if options.accepts(declared) { return nil }
        let wanted = options.contentTypes.joined(separator: ", ")
        return NetworkError(
            .unacceptableContentType, "the content is \(declared ?? ""), expected one of \(wanted)",
            requestMayHaveBeenSent: true, response: head)
    }
}

// MARK: - Writing

extension Download {
    private func write(
        _ arrival: WatchedExchange.Arrival, _ publication: Publication, _ exchange: WatchedExchange
    ) async throws -> HTTPSession.Response<HTTPSession.DownloadedFile> {
        let response = arrival.response
        let length = response.body.length
        try check(length ?? 0, response.head)
        let part = try await makePart(publication, length, response.head)
        let writer: DownloadWriter
        do {
            writer = try DownloadWriter(part, digest: options.digest?.algorithm, on: exchange.loop)
        } catch {
            await disk.run { Publication.discard(part) }
            throw error
        }
        do {
            try await fill(writer, arrival, exchange)
            let digest = try check(writer.digest(), response.head)
            try await exchange.pass()
            try await publish(writer.file, publication, exchange, response.head)
            let file = HTTPSession.DownloadedFile(
                path: publication.placement.path, byteCount: writer.position, digest: digest,
                suggestedName: publication.placement.suggestedName)
            return exchange.response(response, file)
        } catch {
            await writer.stop()
            // A file that could not be given its name is the caller's.
            let isKept = (error as? NetworkError)?.fileFailure?.keptAt != nil
            if !isKept { await disk.run { Publication.discard(part) } }
            throw error
        }
    }

    private func makePart(
        _ publication: Publication, _ length: Int?, _ head: ResponseHead
    ) async throws -> PartFile {
        var random = SystemRandomNumberGenerator()
        let token = random.next()
        let made: Result<PartFile, HTTPSession.FileFailure> = await disk.run {
            do throws(HTTPSession.FileFailure) {
                return .success(try publication.makePart(token, length: length))
            } catch {
                return .failure(error)
            }
        }
        SweptFolders.shared.sweep(publication.placement.folder, on: disk)
        do throws(HTTPSession.FileFailure) {
            return try made.get()
        } catch {
            throw error.error(.fileNotCreated, "the file cannot be made", head)
        }
    }

    /// Reads the whole body into the file. Decoding is work, and the loop has others waiting.
    private func fill(
        _ writer: DownloadWriter, _ arrival: WatchedExchange.Arrival, _ exchange: WatchedExchange
    ) async throws {
        let pump = DownloadPump(writer: writer, options: options, exchange: exchange, head: arrival.response.head)
        guard arrival.isCoded else { return try await pump.run(arrival.response.body) }
        let body = arrival.response.body
        try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in try await pump.run(body) }
    }

    private func check(_ length: Int, _ head: ResponseHead) throws {
        guard let limit = options.byteLimit, length > limit else { return }
        throw NetworkError(
            .limitExceeded, "the body has more than \(limit) bytes", phase: .idle, requestMayHaveBeenSent: true,
            response: head)
    }

    private func check(_ digest: ContentDigest?, _ head: ResponseHead) throws -> ContentDigest? {
        guard let expected = options.digest, digest != expected else { return digest }
        throw NetworkError(
            .digestMismatch, "the content is \(digest?.description ?? "without digest"), expected \(expected)",
            phase: .idle, requestMayHaveBeenSent: true, response: head)
    }

    private func publish(
        _ part: PartFile, _ publication: Publication, _ exchange: WatchedExchange, _ head: ResponseHead
    ) async throws {
        let published: HTTPSession.FileFailure? = await disk.run {
            do throws(HTTPSession.FileFailure) {
                try publication.publish(part)
                return nil
            } catch {
                return error
            }
        }
        let snapshot = exchange.delegate.snapshot(at: exchange.watch.now())
        if let failure = published {
            let error = failure.error(.fileNotMoved, "the file cannot be given its name", head)
            exchange.session.hub.tell(.fileMoveFailed(snapshot, error))
            throw error
        }
        exchange.session.hub.tell(.fileMoved(snapshot, from: part.path, to: publication.placement.path))
    }
}

extension ResponseBody {
    /// How long it is, if that is known.
    var length: Int? {
        switch self {
        case .bytes(let bytes): bytes.count
        case .stream(let stream): stream.expectedLength
        }
    }
}

extension WatchedExchange {
    /// What is told of a response whose body has gone to a file.
    fileprivate func response(
        _ response: TransportResponse, _ file: HTTPSession.DownloadedFile
    ) -> HTTPSession.Response<HTTPSession.DownloadedFile> {
        var (attempt, trailers) = (response.attempt, Fields?.none)
        if case .stream(let stream) = response.body { (attempt, trailers) = (stream.attempt, stream.trailers) }
        let carried = response.with(.bytes(.empty), attempt)
        return HTTPSession.Response(carried, .empty, trailers, of: request, after: trail.keeping(file))
            .with(value: file)
    }
}

extension HTTPSession.Response<HTTPSession.DownloadedFile> {
    /// The same for who asked for a body, which has become a file.
    var keepingFile: HTTPSession.Response<Bytes> { with(value: .empty) }
}
