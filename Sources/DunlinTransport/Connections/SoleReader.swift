public import DunlinTypes
internal import Synchronization

/// One reader of a body at a time: whoever reads takes out what reading needs and puts it back when there is something
/// to hand on. Whoever comes meanwhile is turned away. How far the body got can be seen all the time.
public struct SoleReader<Work: ~Copyable & Sendable>: ~Copyable, Sendable {
    // Not private: Swift 6.3.1 cannot compile its use from another file then.
    enum State: ~Copyable {
        case idle(Work)
        case busy
        case ended
        case failed(any Error)

        mutating func begin() -> Turn {
            switch consume self {
            case .idle(let work):
                self = .busy
                return .read(work)
            case .busy:
                self = .busy
                let error = NetworkError(
                    .bodyConsumed, "the body is already being read by another task", phase: .receive)
                return .failed(error)
            case .ended:
                self = .ended
                return .over
            case .failed(let error):
                self = .failed(error)
                return .failed(error)
            }
        }
    }

    // Not private for the same reason.
    struct Record: ~Copyable {
        var state: State
        var hop: HTTP.Hop
        var trailers: Fields
    }

    /// What a reader finds when it comes.
    public enum Turn: ~Copyable {
        case read(Work)
        /// There is no more.
        case over
        /// It is being read, or reading has failed before.
        case failed(any Error)
    }

    private let record: Mutex<Record>

    /// `attempt` is how far the body got before anybody read it.
    public init(_ work: consuming Work, after hop: HTTP.Hop, _ trailers: Fields = Fields()) {
        record = Mutex(Record(state: .idle(work), hop: hop, trailers: trailers))
    }

    public var hop: HTTP.Hop { record.withLock { $0.hop } }
    /// Empty before the end.
    public var trailers: Fields { record.withLock { $0.trailers } }

    public func begin() -> Turn {
        record.withLock { $0.state.begin() }
    }

    /// `attempt` is how far the body got; nil for no further.
    public func putBack(_ work: consuming Work, after hop: HTTP.Hop? = nil) {
        set(.idle(work), hop)
    }

    /// There is no more to read; the work is the reader's to keep.
    public func end(after hop: HTTP.Hop? = nil, _ trailers: Fields? = nil) {
        set(.ended, hop, trailers)
    }

    /// From now on every reader gets this error.
    public func fail(_ error: any Error, after hop: HTTP.Hop? = nil) {
        set(.failed(error), hop)
    }

    private func set(_ state: consuming State, _ hop: HTTP.Hop?, _ trailers: Fields? = nil) {
        var state: State? = state
        record.withLock { record in
            record.state = state.take() ?? .ended
            if let hop { record.hop = hop }
            if let trailers { record.trailers = trailers }
        }
    }
}
