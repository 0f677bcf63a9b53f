import Dunlin

extension HTTPSession.Interception {
    /// Sends the request twice, and gives the second response.
    static let sendingTwice: Intercept = { request, next in
        _ = try await next(request)
        return try await next(request)
    }
}

extension RequestBody {
    /// "hello", which can be sent once.
    static var once: RequestBody {
        .stream(
            AsyncStream<Bytes> { stream in
                stream.yield("hello")
                stream.finish()
            })
    }
}
