/// The ID of one of a call's sendings: the call as it was made, what an interceptor sends for it, or a part of a
/// download.
package struct SendingID: Hashable, Sendable {
    fileprivate let number: UInt64

    /// The call as it was made.
    package static let main = SendingID(number: 0)
}

/// The state of a running call: that of each of its sendings.
///
/// It is isolated to the call's delegate and changed only there; others get copies. A sending is in it from its
/// beginning to its own end, so latecomers, such as an interceptor whose answer is no longer wanted, change only their
/// own sending.
struct CallState {
    private var main: LiveCall?
    private var others: [SendingID: LiveCall] = [:]
    private var last: UInt64 = 0
    /// What had been sent when the call ended.
    private var sentAtEnd = SentRequests()

    /// What has been sent so far.
    var sentRequests: SentRequests { main?.sentRequests ?? sentAtEnd }

    /// The sending with this ID, between its beginning and its end.
    subscript(id: SendingID) -> LiveCall {
        mutating get { read(id) { $0 } }
    }

    /// Reads part of a sending in place, without copying the rest.
    // Done as a change, because the compiler copies all of an optional to read from it.
    @inline(__always)
    mutating func read<Value>(_ id: SendingID, _ read: (LiveCall) -> Value) -> Value {
        let value = id == .main ? main?.take { read($0) } : others[id].map(read)
        guard let value else { preconditionFailure("the sending is over") }
        return value
    }

    /// Changes a sending in place.
    @inline(__always)
    mutating func change(_ id: SendingID, _ change: (inout LiveCall) -> Void) {
        if id == .main { main?.take(change) } else { others[id]?.take(change) }
    }

    /// Begins the call.
    mutating func begin(main call: LiveCall) { main = call }

    /// Begins a sending in addition to the call. Returns its ID.
    mutating func begin(_ call: LiveCall) -> SendingID {
        last += 1
        let id = SendingID(number: last)
        others[id] = call
        return id
    }

    /// Ends a sending. Returns its last state.
    @discardableResult
    mutating func end(_ id: SendingID) -> LiveCall? {
        guard id == .main else { return others.removeValue(forKey: id) }
        defer { main = nil }
        if let main { sentAtEnd = main.sentRequests }
        return main
    }
}

extension LiveCall {
    /// Changes the sending in place, without a copy.
    @inline(__always)
    fileprivate mutating func take<Value>(_ change: (inout LiveCall) -> Value) -> Value { change(&self) }
}
