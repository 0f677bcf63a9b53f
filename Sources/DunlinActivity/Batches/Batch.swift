internal import DunlinReactor
internal import DunlinTransport

extension HTTPSession {
    /// Several requests as one: their results in the order of the requests, one total progress, and one cancel for all.
    ///
    /// ```swift
    /// let batch = try client.batch(["a", "b", "c"].map { .init("albums/\($0)") }, running: 2, as: .json(Album.self))
    /// for await step in batch.progress { show(step.fraction) }
    /// let albums = try await batch.values
    /// ```
    ///
    /// It begins at once and runs by itself; the object may be released.
    public final class Batch<Output: Sendable>: Sendable {
        /// The requests, in the given order.
        public let tasks: [RequestTask<Output>]
        private let counter: BatchCounter
        /// The queue; nil without a limit.
        private let queue: RequestQueue?

        init(_ tasks: [RequestTask<Output>], _ counter: BatchCounter, _ queue: RequestQueue?) {
            self.tasks = tasks
            self.counter = counter
            self.queue = queue
        }
    }

    /// Creates requests and begins them, at most `running` at a time. Those waiting for their turn are listed in
    /// `tasks`, and have no timeout but an inherited deadline. Throws for a request that cannot be sent, if the session
    /// is shut down, and if `running` is less than one; nothing has been sent then.
    public func batch<S: ResponseSerializer>(
        _ requests: [BatchRequest], running: Int? = nil, as serializer: S
    ) throws -> Batch<S.Output> where S.Output: Sendable {
        let tasks = try requests.map { request in
            try task(
                request.target, method: request.method, query: request.query, body: request.body,
                options: request.options,
                as: serializer)
        }
        return try batch(tasks, running: running)
    }

    /// Creates a batch of existing tasks. `running` does not limit tasks that have begun already or belong to another
    /// batch with a limit.
    public func batch<Output: Sendable>(
        _ tasks: [RequestTask<Output>], running: Int? = nil
    ) throws -> Batch<Output> {
        guard running ?? 1 > 0 else {
            throw NetworkError(.invalidConfiguration, "`running` of a batch must be at least 1, not \(running ?? 0)")
        }
        let queue = running.map { RequestQueue(QueueLimits(running: $0, maximumWaiting: .max)) }
        let counter = BatchCounter(tasks.count, on: core.loops[0])
        for task in tasks { task.join(queue, counter) }
        for task in tasks {
            task.settlement.whenSettled { counter.ended(isWell: $0.isSuccess) }
            task.resume()
        }
        return Batch(tasks, counter, queue)
    }
}

extension HTTPSession.Batch {
    /// The outcome of each request, once all are over. Cancelling the awaiting task cancels the batch.
    public var results: [Result<HTTPSession.Response<Output>, any Error>] {
        get async {
            await withTaskCancellationHandler {
                await counter.settlement.value
            } onCancel: {
                cancel()
            }
            // All outcomes are there.
            return tasks.compactMap { $0.settlement.valueIfSettled?.asSeenHere }
        }
    }

    /// The value of each request, once all are over. Throws the error of the first request, in the given order, that
    /// failed.
    public var values: [Output] {
        get async throws { try await results.map { try $0.get().value } }
    }

    /// The progress of the batch: the current value, then the newest value after each change, then the final one. A
    /// stream begun after the batch is over gives only the final value.
    public var progress: AsyncStream<HTTPSession.BatchProgress> {
        AsyncStream(knowing: (value: HTTPSession.BatchProgress, version: UInt64)?.none) { [counter] known in
            known?.value.isFinal == true ? nil : await counter.progress.value(after: known?.version)
        } tell: { known, news in
            known = news
            return news.value
        }
    }

    /// The current progress.
    public var state: HTTPSession.BatchProgress { counter.state }

    /// The number of requests that wait for their turn in the batch. Those that wait in the session's queue or for a
    /// connection are not counted: they have had their turn.
    public var queued: Int { queue?.waiting ?? 0 }

    /// Cancels every request that is not over. Each fails with `NetworkError` code `cancelled`.
    public func cancel() {
        // The newest first, so that none is sent because an older one has just ended.
        for task in tasks.reversed() { task.cancel() }
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}
