internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// The end of a download: with a file, with nothing, or with data to continue from.
extension DownloadRun {
    func finish(_ response: TransportResponse, _ sending: Sending) async throws -> Response {
        guard let part, let placement else {
            throw NetworkError(.invalidResponse, "the download has no part file", response: response.head)
        }
        let digest = try await check(part, response.head, sending)
        try await sending.pass()
        try checkTime(response.head, sending)
        try await publish(part, Publication(placement: placement, options: options), sending, response.head)
        let file = HTTPSession.DownloadedFile(
            path: placement.path, byteCount: part.content.byteCount, digest: digest, resumedAt: resumedAt,
            suggestedName: placement.suggestedName)
        return sending.response(response, file, after: earlier)
    }

    /// Returns the digest, if one was requested or declared; throws if the file has another.
    private func check(
        _ part: DownloadPart, _ head: ResponseHead, _ sending: Sending
    ) async throws -> ContentDigest? {
        let isOver = sending.isOver
        var seen: ContentDigest?
        if part.content.hasDigest {
            seen = try await digest(of: part, head, sending) { try $0.digest(unless: isOver) }
        }
        for expected in [options.digest, declared].compactMap(\.self) {
            if seen?.algorithm != expected.algorithm {
                // The digest was not computed on arrival, because the algorithm became known only when a part of the
                // file was there.
                seen = try await digest(of: part, head, sending) {
                    try $0.digest(expected.algorithm, unless: isOver)
                }
            }
            guard seen == expected else {
                throw NetworkError(
                    .digestMismatch,
                    "the digest of the content is \(seen?.description ?? "unknown"), expected \(expected)",
                    phase: .receive, requestMayHaveBeenSent: true, response: head)
            }
        }
        return seen
    }

    private func digest(
        of part: DownloadPart, _ head: ResponseHead, _ sending: Sending,
        _ make: @escaping @Sendable (PartContent) throws -> ContentDigest?
    ) async throws -> ContentDigest? {
        let content = part.content
        let outcome = await DiskThreads.shared.run { Result { try make(content) } }
        do {
            return try outcome.get()
        } catch let error as Errno {
            try await sending.pass()
            try checkTime(head, sending)
            throw HTTPSession.FileFailure(part.file.path, error)
                .error(.fileNotWritten, "the written file cannot be read again to compute its digest", head)
        }
    }

    /// Throws if time is up: reading a long file again takes long, and it gets its name only in time.
    private func checkTime(_ head: ResponseHead, _ sending: Sending) throws {
        guard sending.loop.now() >= sending.request.deadline else { return }
        throw NetworkError(
            .timedOut, "timed out checking the downloaded file", phase: .receive,
            requestMayHaveBeenSent: true, exceeding: .total, limit: sending.request.timeouts.total, response: head)
    }

    private func publish(
        _ part: DownloadPart, _ publication: Publication, _ sending: Sending, _ head: ResponseHead
    ) async throws {
        let noted = try await tell(options.willPublish, part.content, publication.placement.path, head)
        let failure: HTTPSession.FileFailure? = await DiskThreads.shared.run {
            do throws(HTTPSession.FileFailure) {
                try publication.publish(part.content, noted: noted)
                part.forget()
                return nil
            } catch {
                part.forget()
                return error
            }
        }
        let snapshot = sending.snapshot
        if let failure { throw failure.error(.fileNotMoved, "the file cannot be moved to its destination", head) }
        sending.session.hub.tell(.fileMoved(snapshot, from: part.file.path, to: publication.placement.path))
    }

    private func tell(
        _ willPublish: (@Sendable (String, FileStatus) async throws -> Void)?, _ content: PartContent, _ path: String,
        _ head: ResponseHead
    ) async throws -> FileStatus? {
        guard let willPublish else { return nil }
        let status: FileStatus
        do throws(Errno) {
            status = try await DiskThreads.shared.run { () throws(Errno) in
                try content.trim()
                return try content.file.status()
            }
        } catch {
            throw HTTPSession.FileFailure(content.file.path, error).error(
                .fileNotMoved, "the status of the file cannot be read", head)
        }
        try await willPublish(path, status)
        return status
    }

    /// Ends with an error, leaving nothing or data to continue from.
    mutating func end(_ error: any Error, of sending: inout Sending) async -> any Error {
        let error = located(error, sending)
        switch (error as? NetworkError)?.code {
        case .digestMismatch, .invalidContent: await sending.forgetStored()
        default: break
        }
        sending.callHistory = sending.callHistory.after(earlier)
        if (error as? NetworkError)?.code == .invalidResumeData { download.leftover.data = nil }
        if let failure = error as? NetworkError, failure.isOfDestination {
            sending.session.hub.tell(.fileMoveFailed(sending.snapshot, failure))
        }
        guard let part else { return error }
        let data = await leave(part, after: error as? NetworkError, sending)
        download.leftover.data = data
        guard var failure = error as? NetworkError else { return error }
        failure.leftover = data
        return failure
    }

    private mutating func leave(
        _ part: DownloadPart, after failure: NetworkError?, _ sending: Sending
    ) async -> ResumeData? {
        await flush(part)
        await part.writer.stop()
        part.content.end()
        // A complete file that could not be moved to its name belongs to the caller.
        let isKept = failure?.fileFailure?.keptAt != nil
        let isWorthKeeping = mayAskAgain(sending) && isWorthKeeping(after: failure)
        // Whoever cancels to get the data waits for them, and no longer than for the request.
        let (loop, deadline) = (sending.loop, sending.request.deadline)
        return await DiskThreads.shared.run { [self] in
            // The lock ends first, since whoever is told of the end may resume at once.
            defer { part.file.unlock() }
            if found != nil || isKept { return found }
            if isWorthKeeping {
                return part.leave(withRecord: keeps(part)) {
                    loop.now() >= deadline
                } _: {
                    resumeData(of: part, $0)
                }
            }
            part.discard()
            return nil
        }
    }

    private func isWorthKeeping(after failure: NetworkError?) -> Bool {
        guard part.map(keeps) == true || download.leftover.isWanted, written == .known,
            machine.isResumable, part?.content.byteCount ?? 0 > 0
        else { return false }
        return failure?.code != .digestMismatch && failure?.code != .limitExceeded
    }

    func resumeData(of part: DownloadPart, _ pieces: [ResumeData.Piece]) -> ResumeData {
        let address = WebAddress(origin: original.head.origin, target: original.head.target, fragment: nil)
        return ResumeData(
            address, method: original.head.method, fields: ownFields, validator: machine.validator,
            completeLength: machine.completeLength, partPath: part.file.path, pieces: pieces,
            source: source, hiding: secretFields)
    }
}

extension NetworkError {
    /// Whether the file system failed to create, write or rename the file.
    fileprivate var isOfDestination: Bool {
        switch code {
        case .fileNotCreated, .fileNotWritten, .fileNotMoved: fileFailure != nil
        default: false
        }
    }
}

extension Sending {
    /// Whether the download was cancelled or its time is up; for use on a disk thread.
    var isOver: @Sendable () -> Bool {
        let (cancellation, loop, deadline) = (delegate.cancellation, loop, request.deadline)
        return { cancellation.cause != nil || loop.now() >= deadline }
    }

    /// The response as observers see it, after its body went to a file.
    fileprivate func response(
        _ response: TransportResponse, _ file: HTTPSession.DownloadedFile, after earlier: [HTTP.Hop]
    ) -> HTTPSession.Response<HTTPSession.DownloadedFile> {
        var trailers: Fields?
        if case .stream(let stream) = response.body { trailers = stream.trailers }
        let carried = response.with(.bytes(.empty), response.latestHop, trailers: trailers)
        let callHistory = callHistory.after(earlier).with { $0.file = file }
        return HTTPSession.Response(carried, .empty, to: request, after: callHistory).with(value: file)
    }
}

extension HTTPSession.Response<HTTPSession.DownloadedFile> {
    /// The response for a caller that asked for a body, which went to a file.
    var keepingFile: HTTPSession.Response<Bytes> { with(value: .empty) }
}
