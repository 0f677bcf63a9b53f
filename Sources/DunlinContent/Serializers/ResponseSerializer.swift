/// Makes a value of a response. A serializer is a value itself, and may be shared by any number of requests.
///
/// Runs where the caller of the request runs, after the response has arrived; `Output` need not be Sendable.
public protocol ResponseSerializer<Output>: Sendable {
    associatedtype Output

    /// Which responses it accepts. The default is any content with a status of 2xx.
    var rules: HTTP.ResponseRules { get }

    /// The `Accept` to send, unless the request has its own.
    var accept: String? { get }

    /// Throws if the response may not be serialized at all. The default goes by `rules`.
    func validate(_ response: HTTP.WholeResponse) throws

    /// The same by other rules than `rules`: those that ``accepting(_:)`` and its like make. The default checks them.
    func validate(_ response: HTTP.WholeResponse, by rules: HTTP.ResponseRules) throws

    /// Makes the value. It is also called for a response that was refused, when somebody wants to read its body.
    func serialize(_ response: HTTP.WholeResponse) throws -> Output
}

extension ResponseSerializer {
    public var rules: HTTP.ResponseRules { .success }

    public var accept: String? { nil }

    public func validate(_ response: HTTP.WholeResponse) throws {
        try validate(response, by: rules)
    }

    public func validate(_ response: HTTP.WholeResponse, by rules: HTTP.ResponseRules) throws {
        try rules.check(response)
    }
}
