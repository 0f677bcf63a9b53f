internal import Dunlin
internal import DunlinReactor

/// Sends requests for a test, and records them.
///
/// It is a session of its own, which follows no redirect, keeps nothing and decodes nothing: the session of the test
/// does that. Its archive is written by a recorder.
final class LiveRecording: Sendable {
    private static let bodyLimit = 64 << 20

    private let session: HTTPSession
    private let recorder: HARRecorder
    private let path: String
    /// Where an archive is written that is to replace another.
    private let draft: String?

    init(
        _ path: String, _ mode: RecordedTransport.Mode, _ secret: HTTP.SecretFields,
        _ configure: (inout HTTPSession.Configuration) -> Void
    ) throws {
        self.path = path
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            try FileSystem.makeFolders(String(path[..<slash]))
        }
        draft = mode == .recordAnew ? path + ".new" : nil
        if let draft, try FileSystem.status(of: draft) != nil { try FileSystem.remove(draft) }
        var settings = HARRecorder.Settings(bodyLimit: Self.bodyLimit, existing: .append)
        settings.secretFields = secret
        recorder = try HARRecorder(draft ?? path, settings)
        var configuration = HTTPSession.Configuration()
        configure(&configuration)
        configuration.redirects = .never
        configuration.retry = .never
        configuration.cookies = nil
        configuration.cache = nil
        configuration.coalescing.isOn = false
        configuration.acceptedStatuses = .none
        configuration.secretFields = secret
        configuration.observers.append(recorder)
        session = try HTTPSession(configuration)
    }

    func exchange(_ request: TransportRequest, _ body: Bytes) async throws -> TransportResponse {
        let head = request.head
        var options = HTTPSession.Options(fields: head.fields)
        options.validatesResponse = false
        options.decodesContent = false
        options.bodyLimit = .value(Self.bodyLimit)
        let content: RequestBody =
            request.body.isNone ? .none : .bytes(body, contentType: request.body.contentType)
        let response = try await session.request(
            HTTP.Target(head.origin.description + head.target), method: head.method, body: content, options: options,
            as: .bytes)
        return TransportResponse(head: response.head, body: .bytes(response.value))
    }

    func giveUp() async {
        await session.shutdown()
        do {
            try await recorder.finish()
            if let draft { try FileSystem.remove(draft) }
        } catch {
            // The test has failed already.
        }
    }

    func finish() async throws {
        await session.shutdown()
        try await recorder.finish()
        if let draft { try FileSystem.move(draft, to: path, overwriting: true) }
    }
}
