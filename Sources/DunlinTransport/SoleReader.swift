internal import DunlinTypes
internal import Synchronization

/// One reader at a time: whoever reads takes out what reading needs and puts it back when there is something to hand
/// on. Whoever comes meanwhile is turned away.
public struct SoleReader<Work: ~Copyable & Sendable>: ~Copyable, Sendable {
    // Not private: Swift 6.3.1 cannot compile its use from another file then.
    enum State: ~Copyable {
        case idle(Work)
        case busy
        case ended
        case failed(any Error)
    }

    /// What a reader finds when it comes.
    public enum Turn: ~Copyable {
        case read(Work)
        /// There is no more.
        case over
        /// It is being read, or reading has failed before.
        case failed(any Error)
    }

    private let state: Mutex<State>

    public init(_ work: consuming Work) {
        state = Mutex(.idle(work))
    }

    public func begin() -> Turn {
        state.withLock { state in
            switch consume state {
            case .idle(let work):
                state = .busy
                return .read(work)
            case .busy:
                state = .busy
                let error = NetworkError(.bodyConsumed, "the body is already being read by another task", phase: .idle)
                return .failed(error)
            case .ended:
                state = .ended
                return .over
            case .failed(let error):
                state = .failed(error)
                return .failed(error)
            }
        }
    }

    public func putBack(_ work: consuming Work) {
        var idle: State? = .idle(work)
        state.withLock { $0 = idle.take() ?? .ended }
    }

    /// There is no more to read; the work is the reader's to keep.
    public func end() {
        state.withLock { $0 = .ended }
    }

    /// From now on every reader gets this error.
    public func fail(_ error: any Error) {
        state.withLock { $0 = .failed(error) }
    }
}
