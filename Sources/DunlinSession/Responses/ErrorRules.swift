internal import DunlinSemantics

/// What a request's errors carry and show of it and its response.
@usableFromInline package struct ErrorRules: Sendable {
    /// The number of bytes kept of a body that was refused or broke off.
    package let keptBody: Int
    let showsBody: Bool
    /// The settings for writing the request as a command.
    let curl: CurlSettings
}

extension NetworkError {
    /// Adds the request that the error is about, and its peer, unless it has them already.
    mutating func name(_ source: RequestRecord.Source, _ callHistory: CallHistory?, _ rules: ErrorRules) {
        let (head, secret) = (source.head, rules.curl.secretFields)
        if request == nil {
            let url = WebAddress.named(head.url(after: callHistory), hiding: secret)
            request = RequestName(method: head.method, url: url)
        }
        if peer == nil { peer = hop?.peer.map { "\($0)" } ?? head.origin.description }
        if command == nil { command = RequestRecord(source, rules.curl) }
        // Of a body that is too long the status may become the error (`Serializing`).
        if code == .unacceptableStatus || code == .upgradeRefused
            || code == .limitExceeded && response?.status == .unauthorized,
            refreshRefusal == nil
        {
            refreshRefusal = callHistory?.steps.refreshRefusal
        }
        if !rules.showsBody { showsBody = false }
        response?.mark(secret)
        if let body { read(body, rules) }
    }
}

extension NetworkError {
    /// Reads from the body of a refusal what it says to people, unless that is known.
    mutating func read(_ body: Bytes, _ rules: ErrorRules) {
        guard showsBody, message == nil, Self.refusals.contains(code) else { return }
        message = ServerMessage.text(of: body, hiding: rules.curl.secretFields)
    }
}

extension Error {
    /// The error for a request that could not be made.
    func named(
        _ method: HTTP.Method, _ target: HTTP.Target, hiding secret: HTTP.SecretFields = .usual
    ) -> any Error {
        guard var error = self as? NetworkError, error.request == nil else { return self }
        error.request = NetworkError.RequestName(method: method, url: WebAddress.named(target.text, hiding: secret))
        return error
    }

    /// The same error with its request's name, if it is a `NetworkError`.
    func named(
        _ source: RequestRecord.Source, _ callHistory: CallHistory? = nil, _ rules: ErrorRules
    ) -> any Error {
        guard var error = self as? NetworkError else { return self }
        error.name(source, callHistory, rules)
        return error
    }
}
