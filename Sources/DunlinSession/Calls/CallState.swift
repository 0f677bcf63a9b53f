/// Names one of a call's sendings: the call as it was asked for, what an interceptor sends for it, or a part of a
/// download.
package struct SendingID: Hashable, Sendable {
    fileprivate let number: UInt64

    /// The call as it was asked for.
    package static let main = SendingID(number: 0)
}

/// What a call is on its way: how each of its sendings stands.
///
/// It is isolated to the call's delegate, and only there is anything of it changed. Others get copies, to read. A
/// sending is in it from its beginning to its own end: whoever is late, such as an interceptor whose answer is not
/// wanted any more, changes what is its own and nothing else.
struct CallState {
    private var main: LiveCall?
    private var others: [SendingID: LiveCall] = [:]
    private var last: UInt64 = 0
    /// What had been sent when the call ended.
    private(set) var sentRequests = SentRequests()

    /// The sending that `id` names, between its beginning and its end.
    subscript(id: SendingID) -> LiveCall {
        mutating get { read(id) { $0 } }
    }

    /// Reads some of a sending where it is: the rest is not copied for that.
    // As a change, for the compiler copies all of an optional to read from it.
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

    /// The call begins.
    mutating func begin(main call: LiveCall) { main = call }

    /// A sending beside the call begins. Returns its name.
    mutating func begin(_ call: LiveCall) -> SendingID {
        last += 1
        let id = SendingID(number: last)
        others[id] = call
        return id
    }

    /// It has ended. Returns how it stood then.
    @discardableResult
    mutating func end(_ id: SendingID) -> LiveCall? {
        guard id == .main else { return others.removeValue(forKey: id) }
        defer { main = nil }
        if let main { sentRequests = main.sentRequests }
        return main
    }
}

extension LiveCall {
    /// Changed where it is, and not copied for that.
    @inline(__always)
    fileprivate mutating func take<Value>(_ change: (inout LiveCall) -> Value) -> Value { change(&self) }
}
