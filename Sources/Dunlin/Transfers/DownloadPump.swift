internal import DunlinReactor
internal import DunlinTransport

/// Moves a body from its stream to a writer, as fast as both allow.
struct DownloadPump: Sendable {
    let writer: DownloadWriter
    let options: HTTPSession.DownloadOptions
    let exchange: WatchedExchange
    let head: ResponseHead

    /// Returns once all of it is written.
    func run(_ body: ResponseBody) async throws {
        switch body {
        case .bytes(let bytes): try await put(bytes)
        case .stream(let stream): try await pump(stream)
        }
        try await wait { writer throws(Errno) in
            try await writer.flush(until: exchange.request.deadline, exchange.delegate.interrupt)
        }
    }

    private func pump(_ arriving: any BodyStream) async throws {
        var stream = arriving
        if exchange.carrier.sockets == nil {
            stream = ForeignBody(
                arriving, exchange.carrier, exchange.delegate.interrupt, on: exchange.loop,
                until: exchange.request.deadline, limit: exchange.request.timeouts.total)
        }
        var spare: [UInt8]?
        var count = writer.position
        do {
            while let piece = try await stream.next(reusing: &spare) {
                count += piece.count
                try check(count)
                if let memory = try await put(piece) { spare = memory }
            }
        } catch var error as NetworkError where error.response == nil {
            error.response = head
            throw error
        }
    }

    /// Memory to receive into, if there is any.
    @discardableResult
    private func put(_ piece: Bytes) async throws -> [UInt8]? {
        let (isFull, spare): (Bool, [UInt8]?)
        do throws(Errno) {
            (isFull, spare) = try writer.put(piece)
        } catch {
            throw failure(error)
        }
        if isFull {
            try await wait { writer throws(Errno) in
                try await writer.waitForRoom(until: exchange.request.deadline, exchange.delegate.interrupt)
            }
        }
        return spare
    }

    private func wait(
        _ wait: (DownloadWriter) async throws(Errno) -> DownloadWriter.Waiter.Outcome
    ) async throws {
        do throws(Errno) {
            if case .value = try await wait(writer) { return }
        } catch {
            throw failure(error)
        }
        if exchange.delegate.interrupt.cause == .task { throw CancellationError() }
        if exchange.delegate.interrupt.cause != nil {
            throw NetworkError(.cancelled, "the request was cancelled", phase: .idle, response: head)
        }
        throw NetworkError(
            .timedOut, "the disk did not take the body in time", phase: .total, requestMayHaveBeenSent: true,
            limit: exchange.request.timeouts.total, response: head)
    }

    private func failure(_ error: Errno) -> NetworkError {
        HTTPSession.FileFailure(writer.file.path, error).error(.fileNotWritten, "the file cannot be written", head)
    }

    private func check(_ count: Int) throws {
        guard let limit = options.byteLimit, count > limit else { return }
        throw NetworkError(
            .limitExceeded, "the body has more than \(limit) bytes", phase: .idle, requestMayHaveBeenSent: true,
            response: head)
    }
}

/// The beginning of a body that is not taken, for the error that says so.
enum BodyBeginning {
    private static var kept: Int { 64 * 1024 }

    /// What comes of it. That the rest does not come would say less than why it is not wanted.
    static func add(to error: NetworkError, _ body: ResponseBody) async -> NetworkError {
        var error = error
        switch body {
        case .bytes(let bytes): error.body = bytes[0..<min(bytes.count, kept)]
        case .stream(let stream):
            var beginning: [UInt8] = []
            do {
                while beginning.count < kept, let piece = try await stream.next() {
                    beginning += piece.prefix(kept - beginning.count)
                }
            } catch {}
            error.body = Bytes(beginning)
            error.attempt = stream.attempt
        }
        return error
    }
}
