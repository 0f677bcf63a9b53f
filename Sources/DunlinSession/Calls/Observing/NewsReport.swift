internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Tells hooks the progress and the interim responses of one call while it runs.
///
/// The transfer does not wait for these hooks. The end of the call does, up to its deadline; after that, and once the
/// call is cancelled, they are cancelled. They are told the last progress in any case, then by a cancelled task.
final class NewsReport: Sendable {
    private let observers: RequestObservers
    private let delegate: TaskDelegate
    /// The directions whose last progress was told, a bit each.
    private let ended = Atomic<UInt8>(0)

    init(_ observers: RequestObservers, of delegate: TaskDelegate) {
        (self.observers, self.delegate) = (observers, delegate)
    }

    /// Tells the news while `work` runs. It ends with the observers' `end`.
    func during<Value>(_ work: () async -> Value) async -> Value {
        let all = ValueWaiter<Void>(on: delegate.loop)
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                await tellAll()
                _ = all.deliver(())
            }
            let value = await work()
            switch await all.wait(until: observers.deadline, cancellation: delegate.cancellation) {
            // The streams of progress of a cancelled task end early.
            case .value: break
            case .timedOut, .cancelled: group.cancelAll()
            }
            // A hook that ignores the cancellation is not called again before it returns.
            await group.waitForAll()
            if !untold.isEmpty { group.addTask { [self] in await tellEnds() } }
            return value
        }
    }

    private func tellAll() async {
        async let uploading: Void = tellProgress(.upload)
        async let answering: Void = tellInterim()
        await tellProgress(.download)
        await uploading
        await answering
    }

    private func tellInterim() async {
        guard let interim = observers.interim else { return }
        for await head in interim.stream {
            let snapshot = delegate.snapshot
            await observers.tell(\.interimResponse) { await $0(snapshot, head) }
        }
    }

    private func tellProgress(_ direction: HTTPSession.Direction) async {
        guard observers.hasHook(Self.hook(direction)) else { return }
        for await progress in observers.control.progress(direction) { await tell(progress, direction) }
    }

    /// The directions whose last progress a hook has not been told.
    private var untold: [HTTPSession.Direction] {
        let reported = ended.load(ordering: .relaxed)
        return [.upload, .download].filter { observers.hasHook(Self.hook($0)) && reported & Self.bit($0) == 0 }
    }

    private func tellEnds() async {
        for direction in untold {
            await tell(HTTPSession.TransferProgress(observers.control.tally, direction), direction)
        }
    }

    private func tell(_ progress: HTTPSession.TransferProgress, _ direction: HTTPSession.Direction) async {
        if progress.isFinal { ended.bitwiseOr(Self.bit(direction), ordering: .relaxed) }
        let snapshot = delegate.snapshot
        await observers.tell(Self.hook(direction)) { await $0(snapshot, progress) }
    }

    private static func bit(_ direction: HTTPSession.Direction) -> UInt8 { direction == .upload ? 1 : 2 }

    private static func hook(
        _ direction: HTTPSession.Direction
    ) -> KeyPath<HTTPSession.Hooks, HTTPSession.ProgressHook?> {
        direction == .upload ? \.uploadProgress : \.downloadProgress
    }
}
