internal import DunlinReactor
package import DunlinTransport
internal import Synchronization

extension HTTPSession {
    /// A handle of a request, to begin it later, suspend and resume it, see its progress, or await its value in several
    /// places.
    ///
    /// ```swift
    /// let task = try client.task("albums/7", method: .post, body: .file(path), as: .json(Receipt.self))
    /// task.resume()
    /// for await step in task.uploadProgress { show(step.fraction) }
    /// let receipt = try await task.value
    /// ```
    ///
    /// The request begins with the first `resume()`, or when its value is first awaited. From then on it runs by itself
    /// and retains its session until it is over; the handle may be released. Releasing the handle before the request
    /// has begun cancels the request.
    public final class RequestTask<Output: Sendable>: Sendable {
        package let delegate: TaskDelegate
        let control: TransferControl
        package let settlement: Settlement<Result<Response<Output>, any Error>>
        private let hasBegun = Atomic<Bool>(false)
        /// Whether it belongs to a scope, which is within the request and is not awaited by it.
        private let isOfScope: Bool
        /// What the transfer left behind, such as resume data; the task's creator knows the type.
        package let leftover: (any Sendable)?

        init(
            _ delegate: TaskDelegate, _ control: TransferControl,
            _ settlement: Settlement<Result<Response<Output>, any Error>>, _ leftover: (any Sendable)? = nil,
            isOfScope: Bool
        ) {
            self.isOfScope = isOfScope
            self.leftover = leftover
            self.delegate = delegate
            self.control = control
            self.settlement = settlement
        }

        deinit {
            if !hasBegun.load(ordering: .relaxed) { delegate.cancel() }
        }
    }
}

extension HTTPSession.RequestTask {
    public var id: HTTPSession.TaskID { delegate.id }

    /// The current state of the request, as in the registry.
    public var snapshot: HTTPSession.TaskSnapshot { delegate.snapshot(at: control.now()) }

    /// Returns the request as a shell command for `curl`, like that of `snapshot`; also before it is sent.
    public func curl(showingSecrets: Bool = false) -> String {
        snapshot.curl(showingSecrets: showingSecrets) ?? ""
    }

    /// Begins the request or resumes it; one call is enough, however often it was suspended. Returns false if nothing
    /// changed: the request runs already, or is over.
    @discardableResult
    public func resume() -> Bool {
        hasBegun.store(true, ordering: .relaxed)
        return delegate.resume()
    }

    /// Suspends the request: nothing more is sent or read, so the peer must wait too. The limits `send`, `firstByte`
    /// and `readIdle` are paused; `total` is not. Returns false if nothing changed: the request is suspended already,
    /// or is over.
    @discardableResult
    public func suspend() -> Bool {
        delegate.suspend()
    }

    /// Cancels the request, begun or not; it fails with `NetworkError` code `cancelled`. No effect if it is over.
    public func cancel() {
        delegate.cancel()
    }

    /// The order in which requests that wait for their turn or for a connection are served.
    public var priority: HTTP.Priority { delegate.priority }

    /// Changes the priority at once, even while the request waits.
    @discardableResult
    public func setPriority(_ priority: HTTP.Priority) -> Bool {
        delegate.setPriority(priority)
    }

    /// Adds the request to a batch: `observer` is told of the bytes it transfers, and it enters the queue unless it has
    /// begun.
    package func join(_ queue: RequestQueue?, _ observer: any TallyObserver) {
        control.add(observer)
        guard let queue, !hasBegun.exchange(true, ordering: .relaxed) else { return }
        delegate.observers?.join(queue, comesLater: !delegate.predecessors.isEmpty)
    }
}

// MARK: - What it brings

extension HTTPSession.RequestTask {
    /// The outcome. Awaiting it begins the request if it has not begun. Cancelling the awaiting task cancels the
    /// request.
    ///
    /// In code that the request waits for, such as its own hook, an interceptor or a credential's refresh, this is a
    /// `NetworkError` with code `invalidRequest` unless the request is over, because both would wait for ever.
    public var result: Result<HTTPSession.Response<Output>, any Error> {
        get async {
            if !isOfScope, resultIfEnded == nil, Enclosure.contains(.request(id)) {
                return .failure(Self.awaitedWithin)
            }
            // Awaiting a request that was suspended after it began does not resume it.
            if !hasBegun.exchange(true, ordering: .relaxed) { delegate.resume() }
            let result = await withTaskCancellationHandler {
                await settlement.value
            } onCancel: {
                delegate.cancel()
            }
            return result.asSeenHere
        }
    }

    public var response: HTTPSession.Response<Output> {
        get async throws { try await result.get() }
    }

    public var value: Output {
        get async throws { try await result.get().value }
    }

    private static var awaitedWithin: NetworkError {
        NetworkError(
            .invalidRequest, "the outcome of a request was awaited in a hook or other code that this request waits for")
    }

    /// The outcome; nil until the request is over.
    public var resultIfEnded: Result<HTTPSession.Response<Output>, any Error>? { settlement.valueIfSettled }
}

// MARK: - How far it is

extension HTTPSession.RequestTask {
    /// The progress of the request's body as the socket takes it: the current value, then the newest after each change,
    /// at most a hundred times a second, then the final one. A stream begun after the request is over gives only the
    /// final value.
    public var uploadProgress: AsyncStream<HTTPSession.TransferProgress> { control.progress(.upload) }

    /// The progress of the response's body as it arrives, in the same way.
    public var downloadProgress: AsyncStream<HTTPSession.TransferProgress> { control.progress(.download) }

    /// The current progress of sending the request's body.
    public var uploaded: HTTPSession.TransferProgress { HTTPSession.TransferProgress(control.tally, .upload) }

    /// The current progress of receiving the response's body.
    public var downloaded: HTTPSession.TransferProgress { HTTPSession.TransferProgress(control.tally, .download) }
}

extension Result where Failure == any Error {
    /// The outcome for the current task: `CancellationError` if this task was cancelled. Other tasks, which were not
    /// cancelled, may wait for the same request.
    package var asSeenHere: Self {
        guard Task.isCancelled, case .failure(let error as NetworkError) = self, error.code == .cancelled else {
            return self
        }
        return .failure(CancellationError())
    }
}

extension HTTPSession.RequestTask {
    /// Whether the request may transfer bytes now; false while it is suspended, not begun or over.
    public var isActive: Bool { control.motion == .moving }

    /// Whether the request may transfer bytes: the current state, then each change. It is false while the request is
    /// suspended, not begun or over. The stream ends with the request. Reading it neither begins nor retains the
    /// request.
    public var activity: AsyncStream<Bool> {
        AsyncStream(knowing: TransferControl.Motion?.none) { [control] known in
            known == .over ? nil : await control.motion(after: known)
        } tell: { known, motion in
            defer { known = motion }
            let isMoving = motion == .moving
            return known.map { $0 == .moving } == isMoving ? nil : isMoving
        }
    }

    /// Reads the progress without beginning or retaining the request.
    package var progressSource: ProgressSource {
        ProgressSource(
            tally: { [control] in control.tally },
            settled: { [settlement] in settlement.valueIfSettled.map(Self.error) },
            ending: { [settlement] in Self.error(await settlement.value) })
    }

    package struct ProgressSource: Sendable {
        fileprivate let tally: @Sendable () -> Tally
        fileprivate let settled: @Sendable () -> (any Error)??
        /// Waits for the request's end, even if the awaiting task is cancelled. Returns its error, if any.
        package let ending: @Sendable () async -> (any Error)?

        package var uploaded: HTTPSession.TransferProgress { .init(tally(), .upload) }
        package var downloaded: HTTPSession.TransferProgress { .init(tally(), .download) }
        /// The request's error, if any; nil until the request is over.
        package var errorIfEnded: (any Error)?? { settled() }
    }

    private static func error(_ result: Result<HTTPSession.Response<Output>, any Error>) -> (any Error)? {
        if case .failure(let error) = result { error } else { nil }
    }
}
