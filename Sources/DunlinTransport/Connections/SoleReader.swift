public import DunlinTypes
internal import Synchronization

/// Lets only one reader at a time read a body. The reader takes out the state for reading, and puts it back when there
/// is something to deliver; another reader meanwhile is refused. The hop and the trailers can be read at any time.
public struct SoleReader<Work: ~Copyable & Sendable>: ~Copyable, Sendable {
    // Not private: Swift 6.3.1 cannot compile its use from another file then.
    enum State: ~Copyable {
        case idle(Work)
        case busy
        case ended
        case failed(any Error)

        /// Takes out the state for reading, and leaves `next` in its place.
        mutating func begin(leaving next: consuming State = .busy) -> Turn {
            switch consume self {
            case .idle(let work):
                self = next
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

    /// What a reader gets.
    public enum Turn: ~Copyable {
        case read(Work)
        /// The body has been read to its end.
        case over
        /// Somebody else is reading, or reading failed before.
        case failed(any Error)
    }

    private let record: Mutex<Record>

    /// Creates a reader; `hop` is the hop before anybody reads the body.
    public init(_ work: consuming Work, after hop: HTTP.Hop, _ trailers: Fields = Fields()) {
        record = Mutex(Record(state: .idle(work), hop: hop, trailers: trailers))
    }

    public var hop: HTTP.Hop { record.withLock { $0.hop } }
    /// The trailers; empty before the end.
    public var trailers: Fields { record.withLock { $0.trailers } }

    public func begin() -> Turn {
        record.withLock { $0.state.begin() }
    }

    /// Takes out the state for reading for good. Later readers get the error instead of being told of another reader.
    public func giveUp(_ error: any Error) -> Turn {
        record.withLock { $0.state.begin(leaving: .failed(error)) }
    }

    /// Puts the state back; `hop` is the new hop, nil for no change.
    public func putBack(_ work: consuming Work, after hop: HTTP.Hop? = nil) {
        set(.idle(work), hop)
    }

    /// Notes that there is no more to read; the reader keeps the state.
    public func end(after hop: HTTP.Hop? = nil, _ trailers: Fields? = nil) {
        set(.ended, hop, trailers)
    }

    /// Makes every later reader get this error.
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
