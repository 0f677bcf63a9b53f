public import Dunlin

/// Loads documents to be shown in one place: one at a time, and the latest counts.
///
/// ```swift
/// let loader = HTMLDocumentLoader()
/// let document = try await loader.load("https://example.com/")
/// show(document.text, relativeTo: document.baseURL)
/// ```
///
/// A load that begins cancels the one before it, running or suspended. Text is read in the encoding that the document
/// is in, whether the response says so or the document itself.
public actor HTMLDocumentLoader {
    /// Makes another document of one that was loaded; what it returns is what is delivered. Throwing fails the load.
    public typealias Transform = @Sendable (HTMLDocument) async throws -> HTMLDocument

    private static let ownSession = OwnSession()

    private var session: HTTPSession?
    private var serializer: any ResponseSerializer<Bytes>
    private weak var observer: (any LoadObserver)?
    private var current: Current?

    private struct Current {
        let load: HTMLLoad
        weak var observer: (any LoadObserver)?
    }

    /// Without a session it uses one of its own, which all such loaders share: its configuration is the default.
    public init(session: HTTPSession? = nil, as serializer: any ResponseSerializer<Bytes> = .bytes) {
        self.session = session
        self.serializer = serializer
    }

    /// For the loads that begin from now on; nil for the session that loaders share.
    public func use(_ session: HTTPSession?) {
        self.session = session
    }

    /// For the loads that begin from now on: which responses are taken, and what becomes of their bytes.
    public func use(_ serializer: any ResponseSerializer<Bytes>) {
        self.serializer = serializer
    }

    /// Told of the loads that begin from now on, instead of any other; not kept.
    public func observe(by observer: (any LoadObserver)?) {
        self.observer = observer
    }

    /// The load that is going on.
    public var currentLoad: HTMLLoad? { current?.load }

    /// Loads a document. Cancelling the task that waits here cancels the load.
    public func load(
        _ target: HTTP.Target, method: HTTP.Method = .get, query: HTTP.Query = .init(),
        body: RequestBody = .none, options: HTTPSession.Options = .init(), transform: Transform? = nil
    ) async throws -> HTMLDocument {
        let load = try await begin(
            target, method: method, query: query, body: body, options: options, transform: transform)
        return try await load.document
    }

    /// The same with a handle, which tells of progress. Throws for what cannot be sent; then the load that is going on
    /// goes on.
    public func begin(
        _ target: HTTP.Target, method: HTTP.Method = .get, query: HTTP.Query = .init(),
        body: RequestBody = .none, options: HTTPSession.Options = .init(), transform: Transform? = nil
    ) async throws -> HTMLLoad {
        let session = if let session { session } else { try await Self.ownSession.session }
        let task = try session.task(
            target, method: method, query: query, body: body, options: options, as: serializer)
        let load = HTMLLoad(task)
        cancel()
        current = Current(load: load, observer: observer)
        task.resume()
        observer?.started(load)
        follow(load, transform)
        return load
    }

    /// Stops the load that is going on, if there is one.
    public func cancel() {
        guard let load = current?.load else { return }
        load.cancel()
        tellEnd(of: load)
    }

    private func follow(_ load: HTMLLoad, _ transform: Transform?) {
        // Ends with the load. What transforms a document that nobody wants any more is cancelled with the scope.
        Task {
            async let _: Void = load.run(transform)
            _ = await load.outcome
            tellEnd(of: load)
        }
    }

    /// Once for each load: whoever comes second finds another, or none.
    private func tellEnd(of load: HTMLLoad) {
        guard let ended = current, ended.load === load, let outcome = load.outcomeIfEnded else { return }
        current = nil
        switch outcome {
        case .success(let document): ended.observer?.finished(load, with: document)
        case .failure(let error): ended.observer?.failed(load, with: error)
        }
    }
}

/// The session of loaders that have none, made when the first of them needs it.
private actor OwnSession {
    private var made: HTTPSession?

    var session: HTTPSession {
        get throws {
            if let made { return made }
            let session = try HTTPSession()
            made = session
            return session
        }
    }
}
