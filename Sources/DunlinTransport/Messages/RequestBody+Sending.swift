internal import DunlinReactor
internal import DunlinTypes

extension FileSource {
    /// Opens the file of a request's body off the loop, because disks may be slow.
    static func open(_ body: RequestBody.File, for context: ExchangeContext) async throws -> FileSource {
        do {
            return try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
                try FileSource(body)
            }
        } catch let error as NetworkError {
            var failure = context.error(error.code, error.reason, in: .send, context.hop, cause: error.underlying)
            // The failure has nothing to do with the network.
            failure.phase = nil
            throw failure
        }
    }
}

extension RequestBody {
    /// The length reported to a control; nil if only the end will tell.
    var length: Int? {
        switch content {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .stream(let length, _, _): length
        case .file: nil
        }
    }

    var isChunked: Bool {
        if trailers != nil { return true }
        if case .stream(nil, _, _) = content { return true }
        return false
    }
}
