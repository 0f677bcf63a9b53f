internal import Dunlin
internal import DunlinReactor
internal import Synchronization

/// Sends requests for a test, and records them.
///
/// They are sent by sessions of its own, one for each list of secret names of the sessions that are tested. These
/// follow no redirect, keep nothing and decode nothing: the session of the test does that. The archive is written by a
/// recorder.
final class LiveRecording: Sendable {
    private static let bodyLimit = 64 << 20

    private let configuration: HTTPSession.Configuration
    /// Nil once the recording has ended.
    private let sessions = Mutex<[HTTP.SecretFields: HTTPSession]?>([:])
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
        var settings = HARRecorder.Settings(bodyLimit: Self.bodyLimit, existing: .append)
        // What a process that was killed has left is not gone on with.
        settings.replaces = draft != nil
        settings.secretFields = secret
        // What its sessions send again by themselves, as over a connection that had ended, is one exchange of the test.
        settings.onlyLast = true
        recorder = try HARRecorder(draft ?? path, settings)
        var configuration = HTTPSession.Configuration()
        configure(&configuration)
        configuration.redirects = .never
        configuration.retry = .never
        configuration.cookies = nil
        configuration.cache = nil
        configuration.coalescing.isOn = false
        configuration.acceptedStatuses = .none
        configuration.observers.append(recorder)
        self.configuration = configuration
    }

    private func session(hiding secret: HTTP.SecretFields) throws -> HTTPSession {
        try sessions.withLock { sessions in
            guard let known = sessions else { throw NetworkError(.sessionShutDown, "the recording has ended") }
            if let session = known[secret] { return session }
            var configuration = configuration
            configuration.secretFields = secret
            let session = try HTTPSession(configuration)
            sessions?[secret] = session
            return session
        }
    }

    func exchange(
        _ request: TransportRequest, _ body: Bytes, hiding secret: HTTP.SecretFields
    ) async throws -> TransportResponse {
        let head = request.head
        var options = HTTPSession.Options(fields: head.fields)
        options.validatesResponse = false
        options.decodesContent = false
        options.bodyLimit = .value(Self.bodyLimit)
        let content: RequestBody =
            request.body.isNone ? .none : .bytes(body, contentType: request.body.contentType)
        let response = try await session(hiding: secret).request(
            HTTP.Target(head.origin.description + head.target), method: head.method, body: content, options: options,
            as: .bytes)
        return TransportResponse(head: response.head, body: .bytes(response.value))
    }

    private func shutDown() async {
        let sessions = sessions.withLock { $0.take() }
        for session in (sessions ?? [:]).values { await session.shutdown() }
    }

    func giveUp() async {
        await shutDown()
        do {
            try await recorder.finish()
            if let draft { try FileSystem.remove(draft) }
        } catch {
            // The test has failed already.
        }
    }

    func finish() async throws {
        await shutDown()
        try await recorder.finish()
        if let draft { try FileSystem.move(draft, to: path, overwriting: true) }
    }
}
