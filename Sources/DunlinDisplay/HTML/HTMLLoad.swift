public import Dunlin

/// A document that is being loaded. The load continues by itself, and its handle need not be retained.
public final class HTMLLoad: Sendable, Identifiable {
    public typealias Outcome = Result<HTMLDocument, any Error>

    private let task: HTTPSession.RequestTask<Bytes>
    private let settlement = Settlement<Outcome>()

    init(_ task: HTTPSession.RequestTask<Bytes>) {
        self.task = task
    }

    public var id: HTTPSession.TaskID { task.id }

    /// The document. Cancelling the awaiting task cancels the load.
    public var document: HTMLDocument {
        get async throws {
            let outcome = await withTaskCancellationHandler {
                await settlement.value
            } onCancel: {
                cancel()
            }
            return try outcome.asSeenHere.get()
        }
    }

    /// The outcome; nil until the load has ended.
    public var outcomeIfEnded: Outcome? { settlement.valueIfSettled }

    /// The progress: the current value, then the newest after each change, then the final one.
    public var progress: AsyncStream<HTTPSession.TransferProgress> { task.downloadProgress }

    /// Suspends the load.
    public func suspend() { task.suspend() }

    /// Resumes the load.
    public func resume() { task.resume() }

    /// Cancels the load, even while the document is being transformed; it fails with `NetworkError` code `cancelled`.
    /// No effect if it is over.
    public func cancel() {
        task.cancel()
        settlement.settle(.failure(NetworkError(.cancelled, "the load was cancelled")))
    }
}

extension HTMLLoad {
    /// Makes a document from what came, and transforms it with `transform`. Runs on no particular executor.
    @concurrent
    func run(_ transform: HTMLDocumentLoader.Transform?) async {
        do {
            let document = HTMLDocument(try await task.response)
            settle(.success(try await transform?(document) ?? document))
        } catch {
            settle(.failure(error))
        }
    }

    /// Settles the outcome; the first one is final.
    func settle(_ outcome: Outcome) {
        settlement.settle(outcome)
    }

    /// The outcome, once the load has ended.
    var outcome: Outcome {
        get async { await settlement.value }
    }
}
