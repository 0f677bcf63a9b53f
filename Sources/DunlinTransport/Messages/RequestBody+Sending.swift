internal import DunlinReactor
internal import DunlinTypes

extension FileSource {
    /// Opens the file of a request's body off the loop, because disks are waited for.
    static func open(_ body: RequestBody.File, for context: ExchangeContext) async throws -> FileSource {
        do {
            return try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
                try FileSource(body)
            }
        } catch let error as NetworkError {
            throw context.error(error.code, error.reason, in: .send, context.hop, cause: error.underlying)
        }
    }
}

extension RequestBody {
    /// What a watch is told of its length; nil where only its end will tell.
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
