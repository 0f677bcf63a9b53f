/// The file that a body is written to.
enum FileDestination: BodyReceiver {
    case file(String)
    case folder(String)
    case temporary
    case resolved(HTTPSession.Destination.Decision)
    /// A file in a folder, whose name is decided when the response's head has come. Unlike with `resolved`, what an
    /// earlier download of the same URL left in the folder is found before.
    case named(folder: String, HTTPSession.Destination.Naming)

    func receive(
        _ arrival: Sending.Arrival, from sending: inout Sending
    ) async throws -> HTTPSession.Response<Bytes> {
        try await Download(to: HTTPSession.Destination(self)).take(arrival, from: &sending).keepingFile
    }
}

extension HTTPSession.Destination {
    /// Called with the response's head and its URL: the requested one, or that of the last redirect.
    typealias Decision = @Sendable (_ head: ResponseHead, _ url: String) async -> HTTPSession.Destination?

    /// Called with the name that the server or the URL suggests, made safe, and with the response's head.
    package typealias Naming = @Sendable (_ suggestedName: String, _ head: ResponseHead) async -> String

    public static func file(_ path: String) -> Self { Self(FileDestination.file(path)) }

    public static func folder(_ path: String) -> Self { Self(FileDestination.folder(path)) }

    /// A file in a folder, under the name that is returned, which is made safe. A download that is resumable goes on
    /// with what an earlier one of the same URL left in the folder, whatever its name was.
    package static func folder(_ path: String, named name: @escaping Naming) -> Self {
        Self(FileDestination.named(folder: path, name))
    }

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
