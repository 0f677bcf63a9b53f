package import DunlinTransport
internal import Synchronization

extension HTTPSession {
    /// A request one can hold: to let it go later, to suspend and resume it, to see how far it is, to wait for it in
    /// several places.
    ///
    /// ```swift
    /// let task = try client.task("albums/7", method: .post, body: .file(path), as: .json(Receipt.self))
    /// task.resume()
    /// for await step in task.uploadProgress { show(step.fraction) }
    /// let receipt = try await task.value
    /// ```
    ///
    /// It begins with the first `resume()`, or when somebody awaits what it brings. From then on it runs by itself, and
    /// keeps its session, until it is over; it need not be held on to. One that is let go of before it has begun is
    /// cancelled.
    public final class RequestTask<Output: Sendable>: Sendable {
        package let delegate: TaskDelegate
        let control: TransferControl
        package let settlement: Settlement<Result<Response<Output>, any Error>>
        private let hasBegun = Atomic<Bool>(false)
        /// What its transfer leaves, for those who know what that is.
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

    /// Where it stands; the registry tells the same.
    public var snapshot: HTTPSession.TaskSnapshot { delegate.snapshot(at: control.now()) }

    /// Lets it begin or go on; one call is enough, however often it was suspended. Harmless when it runs or is over.
    public func resume() {
        hasBegun.store(true, ordering: .relaxed)
        delegate.resume()
    }

    /// Holds it where it is: nothing more is sent or read, so that the peer is held too, and the limits of `send`,
    /// `firstByte` and `idle` do not go on; `total` does. Harmless when it is held or over.
    public func suspend() {
        delegate.suspend()
    }

    /// Stops it, begun or not; it fails with `NetworkError` code `cancelled`. Harmless when it is over.
    public func cancel() {
        delegate.cancel()
    }

    /// Who goes first when requests wait for their turn or for a connection. Another one counts at once.
    public var priority: HTTP.Priority {
        get { delegate.priority }
        set { delegate.setPriority(newValue) }
    }

    /// Makes it one of a batch: `follower` is told of what it moves, and it stands in `line`, if it has not begun yet.
    package func join(_ line: RequestQueue?, _ observer: any TallyObserver) {
        control.add(observer)
        guard let line, !hasBegun.exchange(true, ordering: .relaxed) else { return }
        delegate.observers?.join(line, comesLater: !delegate.predecessors.isEmpty)
    }
}

// MARK: - What it brings

extension HTTPSession.RequestTask {
    /// How it ended. Lets it begin if it has not. Cancelling the task that waits here cancels the request.
    public var result: Result<HTTPSession.Response<Output>, any Error> {
        get async {
            // Who waits for a request that was suspended after it had begun waits for somebody else to resume it.
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

    /// How it ended, if it has.
    public var resultIfEnded: Result<HTTPSession.Response<Output>, any Error>? { settlement.valueIfSettled }
}

// MARK: - How far it is

extension HTTPSession.RequestTask {
    /// How much of the request's body the socket has taken: as it is now, then the newest value whenever it has
    /// changed, at most a hundred times a second, then the final one. Who begins to listen when the request is over
    /// gets the final value.
    public var uploadProgress: AsyncStream<HTTPSession.TransferProgress> { control.progress(.upload) }

    /// The same of the response's body.
    public var downloadProgress: AsyncStream<HTTPSession.TransferProgress> { control.progress(.download) }

    /// How far the request's body is just now.
    public var uploaded: HTTPSession.TransferProgress { HTTPSession.TransferProgress(control.tally, .upload) }

    /// How far the response's body is just now.
    public var downloaded: HTTPSession.TransferProgress { HTTPSession.TransferProgress(control.tally, .download) }
}

extension Result where Failure == any Error {
    /// The same for whoever waited in the present task: others may wait for the same request whose own tasks nobody
    /// cancelled.
    package var asSeenHere: Self {
        guard Task.isCancelled, case .failure(let error as NetworkError) = self, error.code == .cancelled else {
            return self
        }
        return .failure(CancellationError())
    }
}
