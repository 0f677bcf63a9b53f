package import DunlinTransport
internal import Synchronization

extension HTTPSession {
    /// A handle of a request: to begin it later, to suspend and resume it, to see its progress, to await its value in
    /// several places.
    ///
    /// ```swift
    /// let task = try client.task("albums/7", method: .post, body: .file(path), as: .json(Receipt.self))
    /// task.resume()
    /// for await step in task.uploadProgress { show(step.fraction) }
    /// let receipt = try await task.value
    /// ```
    ///
    /// The request begins with the first `resume()`, or when its value is first awaited. From then on it runs by itself
    /// and keeps its session until it is over; the handle may be released. A handle that is released before its request
    /// has begun cancels it.
    public final class RequestTask<Output: Sendable>: Sendable {
        package let delegate: TaskDelegate
        let control: TransferControl
        package let settlement: Settlement<Result<Response<Output>, any Error>>
        private let hasBegun = Atomic<Bool>(false)
        /// What its transfer leaves behind, such as resume data; whoever made the task knows the type.
        package let leftover: (any Sendable)?

        init(
            _ delegate: TaskDelegate, _ control: TransferControl,
            _ settlement: Settlement<Result<Response<Output>, any Error>>, _ leftover: (any Sendable)? = nil
        ) {
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

    /// The state of the request now, as the registry shows it.
    public var snapshot: HTTPSession.TaskSnapshot { delegate.snapshot(at: control.now()) }

    /// The request as a shell command for `curl`, as `snapshot` has it: also before it is sent.
    public func curl(showingSecrets: Bool = false) -> String {
        snapshot.curl(showingSecrets: showingSecrets) ?? ""
    }

    /// Begins the request, or resumes it; one call is enough, however often it was suspended. False if that changed
    /// nothing: while it runs, and when it is over.
    @discardableResult
    public func resume() -> Bool {
        hasBegun.store(true, ordering: .relaxed)
        return delegate.resume()
    }

    /// Suspends the request: nothing more is sent or read, so that the peer must wait too. The limits of `send`,
    /// `firstByte` and `readIdle` are paused; `total` is not. False if that changed nothing: when it is suspended
    /// already or over.
    @discardableResult
    public func suspend() -> Bool {
        delegate.suspend()
    }

    /// Cancels the request, begun or not; it fails with `NetworkError` code `cancelled`. Has no effect when it is over.
    public func cancel() {
        delegate.cancel()
    }

    /// The order in which requests that wait for their turn or for a connection are served.
    public var priority: HTTP.Priority { delegate.priority }

    /// Changes the priority at once, also while the request waits.
    @discardableResult
    public func setPriority(_ priority: HTTP.Priority) -> Bool {
        delegate.setPriority(priority)
    }

    /// Makes it one of a batch: `observer` is told of the bytes it transfers, and it enters the queue if it has not
    /// begun yet.
    package func join(_ line: RequestQueue?, _ observer: any TallyObserver) {
        control.add(observer)
        guard let line, !hasBegun.exchange(true, ordering: .relaxed) else { return }
        delegate.observers?.join(line, comesLater: !delegate.predecessors.isEmpty)
    }
}

// MARK: - What it brings

extension HTTPSession.RequestTask {
    /// The outcome. Awaiting it begins the request if nobody has. Cancelling the task that waits here cancels the
    /// request.
    public var result: Result<HTTPSession.Response<Output>, any Error> {
        get async {
            // Whoever waits for a request that was suspended after it had begun waits until somebody else resumes it.
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

    /// The outcome; nil until the request is over.
    public var resultIfEnded: Result<HTTPSession.Response<Output>, any Error>? { settlement.valueIfSettled }
}

// MARK: - How far it is

extension HTTPSession.RequestTask {
    /// How much of the request's body the socket has taken: the value now, then the newest whenever it has changed, at
    /// most a hundred times a second, then the final one. A stream that is begun when the request is over gives the
    /// final value.
    public var uploadProgress: AsyncStream<HTTPSession.TransferProgress> { control.progress(.upload) }

    /// How much of the response's body has come, in the same way.
    public var downloadProgress: AsyncStream<HTTPSession.TransferProgress> { control.progress(.download) }

    /// How much of the request's body has been sent by now.
    public var uploaded: HTTPSession.TransferProgress { HTTPSession.TransferProgress(control.tally, .upload) }

    /// How much of the response's body has come by now.
    public var downloaded: HTTPSession.TransferProgress { HTTPSession.TransferProgress(control.tally, .download) }
}

extension Result where Failure == any Error {
    /// The outcome for the present task: `CancellationError` if this task was cancelled. Others, whose tasks nobody
    /// cancelled, may wait for the same request.
    package var asSeenHere: Self {
        guard Task.isCancelled, case .failure(let error as NetworkError) = self, error.code == .cancelled else {
            return self
        }
        return .failure(CancellationError())
    }
}
