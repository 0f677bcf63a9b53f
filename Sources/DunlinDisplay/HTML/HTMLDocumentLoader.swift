public import Dunlin

/// An actor that loads documents for one place: one at a time, and the latest counts.
///
/// ```swift
/// let loader = HTMLDocumentLoader()
/// let document = try await loader.load("https://example.com/")
/// show(document.text, relativeTo: document.baseURL)
/// ```
///
/// A new load cancels the one before it, running or suspended. Text is read in the document's encoding, whether the
/// response or the document itself declares it.
public actor HTMLDocumentLoader {
    /// Makes another document from a loaded one; the result is delivered. Throwing fails the load.
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

    /// Creates a loader. Without a session, it uses one with the default configuration that all such loaders share.
    public init(session: HTTPSession? = nil, as serializer: any ResponseSerializer<Bytes> = .bytes) {
        self.session = session
        self.serializer = serializer
    }

    /// Sets the session for later loads; nil for the one that loaders share.
    public func use(_ session: HTTPSession?) {
        self.session = session
    }

    /// Sets the serializer for later loads: which responses are accepted, and what is made from their bytes.
    public func use(_ serializer: any ResponseSerializer<Bytes>) {
        self.serializer = serializer
    }

    /// Sets the observer of later loads, instead of any other. It is not retained.
    public func observe(by observer: (any LoadObserver)?) {
        self.observer = observer
    }

    /// The load in progress; nil for none.
    public var currentLoad: HTMLLoad? { current?.load }

    /// Loads a document. Cancelling the awaiting task cancels the load.
    public func load(
        _ target: HTTP.Target, method: HTTP.Method = .get, query: HTTP.Query = .init(),
        body: RequestBody = .none, options: HTTPSession.Options = .init(), transform: Transform? = nil
    ) async throws -> HTMLDocument {
        let load = try await begin(
            target, method: method, query: query, body: body, options: options, transform: transform)
        return try await load.document
    }

    /// Begins a load and returns its handle, which has its progress. Throws for a request that cannot be sent, and then
    /// the current load continues.
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
        observe(load, transform)
        return load
    }

    /// Cancels the load in progress, if there is one.
    public func cancel() {
        guard let load = current?.load else { return }
        load.cancel()
        tellEnd(of: load)
    }

    private func observe(_ load: HTMLLoad, _ transform: Transform?) {
        // The task ends with the load. Transforming a document that is no longer wanted is cancelled with the scope.
        Task {
            async let _: Void = load.run(transform)
            _ = await load.outcome
            tellEnd(of: load)
        }
    }

    /// Reports the end of a load, only once: a second call finds another load, or none.
    private func tellEnd(of load: HTMLLoad) {
        guard let ended = current, ended.load === load, let outcome = load.outcomeIfEnded else { return }
        current = nil
        switch outcome {
        case .success(let document): ended.observer?.finished(load, with: document)
        case .failure(let error): ended.observer?.failed(load, with: error)
        }
    }
}

/// The session of loaders without their own, created on first use.
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
