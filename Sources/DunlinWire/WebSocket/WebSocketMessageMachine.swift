package import DunlinTypes

/// Makes messages of the pieces in which they arrive, decompressed (RFC 6455 §5.6).
///
/// Rules:
/// 1. Text is checked as it arrives, and refused at its first impossible byte.
/// 2. A message that exceeds the limit is refused at the piece that exceeds it.
/// 3. Messages are delivered whole, or piece by piece. A piece of text ends with a whole character: the bytes of one
///    that is cut wait for the others, at most three. A piece is not empty, unless it is the last.
/// 4. A message in one piece is not copied, unless it would keep much more memory than its own.
///
/// After an error, nothing more must be asked. It must not know frames.
package struct WebSocketMessageMachine: Sendable {
    package enum Delivery: Sendable, Hashable {
        case whole
        case pieces
    }

    package enum Action: Sendable, Equatable {
        /// Nothing can be delivered yet.
        case none
        /// A message, or a piece of one.
        case deliver(WebSocketMessage, isLast: Bool)
    }

    private let delivery: Delivery
    private let limit: Int?
    private var validator = UTF8Validator()
    /// The bytes that wait: of a whole message all that have arrived, of a piece of text those of a cut character.
    private var waiting: [UInt8] = []
    private var length = 0

    package init(_ delivery: Delivery = .whole, limits: WebSocketLimits = WebSocketLimits()) {
        self.delivery = delivery
        limit = limits.messageBytes
    }

    /// The number of bytes that wait for others.
    package var waitingCount: Int { waiting.count }

    package mutating func take(
        _ bytes: Bytes, of kind: WebSocketMessage.Kind, isLast: Bool
    ) throws(WebSocketError) -> Action {
        let (sum, overflow) = length.addingReportingOverflow(bytes.count)
        if let limit, overflow || sum > limit { throw .messageTooLong(limit: limit) }
        length = sum
        if kind == .text {
            let fault = bytes.withUnsafeBytes { validator.take($0) }
            guard fault == nil, !isLast || validator.isComplete else { throw .invalidText }
        }
        let action = delivery == .whole ? collect(bytes, kind, isLast) : deliver(bytes, kind, isLast)
        if isLast {
            length = 0
            waiting = []
        }
        return action
    }

    private mutating func collect(_ bytes: Bytes, _ kind: WebSocketMessage.Kind, _ isLast: Bool) -> Action {
        guard !isLast || !waiting.isEmpty else { return .deliver(Self.message(bytes, kind), isLast: true) }
        waiting.append(contentsOf: bytes)
        return isLast ? .deliver(Self.message(Bytes(waiting), kind), isLast: true) : .none
    }

    private mutating func deliver(_ bytes: Bytes, _ kind: WebSocketMessage.Kind, _ isLast: Bool) -> Action {
        var piece = bytes
        if kind == .text, !waiting.isEmpty || validator.pendingCount > 0 {
            let all = waiting + bytes.array
            let end = all.count - validator.pendingCount
            waiting = Array(all[end...])
            piece = Bytes(all, in: 0..<end)
        }
        return piece.isEmpty && !isLast ? .none : .deliver(Self.message(piece, kind), isLast: isLast)
    }

    private static func message(_ bytes: Bytes, _ kind: WebSocketMessage.Kind) -> WebSocketMessage {
        switch kind {
        case .text: .text(String(bytes))
        case .binary: .binary(bytes.count < bytes.storage.count / 4 ? Bytes(Array(bytes)) : bytes)
        }
    }
}
