internal import DunlinReactor
internal import DunlinTransport

extension HTTPSession {
    /// Several requests as one: their results in the order in which they were asked for, their progress as one sum, and
    /// one cancel for all.
    ///
    /// ```swift
    /// let batch = try client.batch(["a", "b", "c"].map { .init("albums/\($0)") }, running: 2, as: .json(Album.self))
    /// for await step in batch.progress { show(step.fraction) }
    /// let albums = try await batch.values
    /// ```
    ///
    /// It begins at once and goes on by itself; it need not be held on to.
    public final class Batch<Output: Sendable>: Sendable {
        /// In the order in which they were asked for.
        public let tasks: [RequestTask<Output>]
        private let book: BatchBook

        init(_ tasks: [RequestTask<Output>], _ book: BatchBook) {
            self.tasks = tasks
            self.book = book
        }
    }

    /// Makes requests and lets them go, at most `running` at once. Those whose turn is still to come are listed in
    /// `tasks`, and no timeout counts for them but an inherited deadline. Throws for what cannot be sent, once the
    /// session is shut down, and for less than one at once; nothing has been sent then.
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

    /// The same with tasks that were made before. `running` does not hold back those that have begun already, or that
    /// belong to another batch that has a limit.
    public func batch<Output: Sendable>(
        _ tasks: [RequestTask<Output>], running: Int? = nil
    ) throws -> Batch<Output> {
        guard running ?? 1 > 0 else {
            throw NetworkError(.invalidConfiguration, "a batch must run at least one request at once")
        }
        let line = running.map { RequestQueue(QueueLimits(running: $0, maximumWaiting: .max), on: core.loops[0]) }
        let book = BatchBook(tasks.count, on: core.loops[0])
        for task in tasks { task.join(line, book) }
        for task in tasks {
            task.settlement.whenSettled { book.ended(isWell: $0.isSuccess) }
            task.resume()
        }
        return Batch(tasks, book)
    }
}

extension HTTPSession.Batch {
    /// How each request ended, once all have. Cancelling the task that waits here cancels the batch.
    public var results: [Result<HTTPSession.Response<Output>, any Error>] {
        get async {
            await withTaskCancellationHandler {
                await book.settlement.value
            } onCancel: {
                cancel()
            }
            // All are there.
            return tasks.compactMap { $0.settlement.valueIfSettled?.asSeenHere }
        }
    }

    /// What each request brought, once all are over; throws the error of the first, in the order in which they were
    /// asked for, that failed.
    public var values: [Output] {
        get async throws { try await results.map { try $0.get().value } }
    }

    /// How far the batch is: as it is now, then the newest value whenever it has changed, then the final one. Who
    /// begins to listen when it is over gets the final value.
    public var progress: AsyncStream<HTTPSession.BatchProgress> {
        AsyncStream(knowing: (value: HTTPSession.BatchProgress, version: UInt64)?.none) { [book] known in
            known?.value.isFinal == true ? nil : await book.progress.value(after: known?.version)
        } tell: { known, news in
            known = news
            return news.value
        }
    }

    /// How far it is just now.
    public var state: HTTPSession.BatchProgress { book.state }

    /// Stops every request that is not over; each fails with `NetworkError` code `cancelled`.
    public func cancel() {
        // The newest first: none is to be sent because an older one has just left.
        for task in tasks.reversed() { task.cancel() }
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}
