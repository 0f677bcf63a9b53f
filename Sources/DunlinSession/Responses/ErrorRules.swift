internal import DunlinSemantics

/// What errors of a request carry and show of its response.
@usableFromInline package struct ErrorRules: Sendable {
    /// Bytes of a body that was refused or broke off.
    package let keptBody: Int
    let showsBody: Bool
}

extension NetworkError {
    /// Says which request it is about, and whom that talked to, unless it knows already.
    mutating func name(_ head: RequestHead, _ callHistory: CallHistory?) {
        if request == nil {
            request = RequestName(method: head.method, url: WebAddress.named(head.url(after: callHistory)))
        }
        if peer == nil { peer = hop?.peer.map { "\($0)" } ?? head.origin.description }
    }
}

extension Error {
    /// Of a request that could not be made.
    func named(_ method: HTTP.Method, _ target: HTTP.Target) -> any Error {
        guard var error = self as? NetworkError, error.request == nil else { return self }
        error.request = NetworkError.RequestName(method: method, url: WebAddress.named(target.text))
        return error
    }

    /// The same error with the name of its request, if it is one of the network.
    func named(_ head: RequestHead, _ callHistory: CallHistory? = nil, showsBody: Bool = true) -> any Error {
        guard var error = self as? NetworkError else { return self }
        error.name(head, callHistory)
        if !showsBody { error.showsBody = false }
        return error
    }
}
