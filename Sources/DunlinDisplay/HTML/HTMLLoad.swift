public import Dunlin

/// One document on its way. It goes on by itself, and need not be held on to.
public final class HTMLLoad: Sendable, Identifiable {
    public typealias Outcome = Result<HTMLDocument, any Error>

    private let task: HTTPSession.RequestTask<Bytes>
    private let settlement = Settlement<Outcome>()

    init(_ task: HTTPSession.RequestTask<Bytes>) {
        self.task = task
    }

    public var id: HTTPSession.TaskID { task.id }

    /// The document. Cancelling the task that waits here cancels the load.
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

    /// How it ended, if it has.
    public var outcomeIfEnded: Outcome? { settlement.valueIfSettled }

    /// How far it is: as it is now, then the newest value whenever it has changed, then the final one.
    public var progress: AsyncStream<HTTPSession.TransferProgress> { task.downloadProgress }

    /// Holds it where it is.
    public func suspend() { task.suspend() }

    /// Lets it go on.
    public func resume() { task.resume() }

    /// Stops it, also while it is being transformed; it fails with `NetworkError` code `cancelled`. Harmless when it is
    /// over.
    public func cancel() {
        task.cancel()
        settlement.settle(.failure(NetworkError(.cancelled, "the load was cancelled")))
    }
}

extension HTMLLoad {
    /// What came, made a document, and that what `transform` makes of it. Runs nowhere in particular.
    @concurrent
    func run(_ transform: HTMLDocumentLoader.Transform?) async {
        do {
            let document = HTMLDocument(try await task.response)
            settle(.success(try await transform?(document) ?? document))
        } catch {
            settle(.failure(error))
        }
    }

    /// The first outcome stays.
    func settle(_ outcome: Outcome) {
        settlement.settle(outcome)
    }

    /// How it ended, once it has.
    var outcome: Outcome {
        get async { await settlement.value }
    }
}
