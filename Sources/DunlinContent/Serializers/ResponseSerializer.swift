/// A type that makes a value from a response. Any number of requests may share a serializer.
///
/// It runs where the request's caller runs, after the response has arrived, so `Output` need not be Sendable.
public protocol ResponseSerializer<Output>: Sendable {
    associatedtype Output

    /// The responses that it accepts. The default is any content with status 2xx.
    var rules: HTTP.ResponseRules { get }

    /// The `Accept` field to send, unless the request has its own.
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
