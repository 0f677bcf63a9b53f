/// The file that a body is written to.
enum FileDestination: BodyReceiver {
    case file(String)
    case folder(String)
    case temporary
    case resolved(HTTPSession.Destination.Decision)

    func receive(
        _ arrival: LiveCall.Arrival, from call: isolated TaskDelegate
    ) async throws -> HTTPSession.Response<Bytes> {
        try await Download(to: HTTPSession.Destination(self)).take(arrival, from: call).keepingFile
    }
}

extension HTTPSession.Destination {
    /// Called with the response's head and its URL: the requested one, or that of the last redirect.
    typealias Decision = @Sendable (_ head: ResponseHead, _ url: String) async -> HTTPSession.Destination?

    public static func file(_ path: String) -> Self { Self(FileDestination.file(path)) }

    public static func folder(_ path: String) -> Self { Self(FileDestination.folder(path)) }

    public static var temporary: Self { Self(FileDestination.temporary) }

    /// A destination that is decided when the response's head has come. If the decision is nil, the file is a temporary
    /// one.
    public static func resolved(
        by decision: @escaping @Sendable (_ head: ResponseHead, _ url: String) async -> HTTPSession.Destination?
    ) -> Self {
        Self(FileDestination.resolved(decision))
    }

    /// The destination as the file to write to. All destinations are created in this file.
    var file: FileDestination { kind as? FileDestination ?? .temporary }
}
