/// Makes a value of a response. A serializer is a value itself, and may be shared by any number of requests.
///
/// Runs where the caller of the request runs, after the response has arrived; `Output` need not be Sendable.
public protocol ResponseSerializer<Output>: Sendable {
    associatedtype Output

    /// Which responses it accepts. The default is any content with a status of 2xx.
    var rules: HTTP.ResponseRules { get }

    /// The `Accept` to send, unless the request has its own.
    var accept: String? { get }

    /// Throws if the response may not be serialized at all. The default goes by the rules.
    func validate(_ response: HTTP.WholeResponse) throws

    /// Makes the value. It is also called for a response that was refused, when somebody wants to read its body.
    func serialize(_ response: HTTP.WholeResponse) throws -> Output
}

extension ResponseSerializer {
    public var rules: HTTP.ResponseRules { .success }

    public var accept: String? { nil }

    public func validate(_ response: HTTP.WholeResponse) throws {
        try rules.check(response)
    }
}

/// A serializer whose rules can be set.
public protocol AdjustableSerializer: ResponseSerializer {
    var rules: HTTP.ResponseRules { get set }
}

extension AdjustableSerializer {
    /// Accepts content of these types too: `.json(Item.self).accepting("text/plain", "+json")`.
    public func accepting(_ contentTypes: String...) -> Self {
        var copy = self
        copy.rules.contentTypes = rules.contentTypes?.union(HTTP.ContentTypes(contentTypes))
        return copy
    }

    /// Accepts no body without a declared type: `.json(Item.self).requiringContentType()`.
    public func requiringContentType() -> Self {
        var copy = self
        copy.rules.requiresContentType = true
        return copy
    }

    /// Accepts these statuses too: `.json(Item?.self).accepting(statuses: [404])`.
    public func accepting(statuses: HTTP.StatusSet) -> Self {
        var copy = self
        copy.rules.statuses = rules.statuses?.union(statuses)
        return copy
    }

    /// Accepts what these rules accept, and nothing else.
    public func with(rules: HTTP.ResponseRules) -> Self {
        var copy = self
        copy.rules = rules
        return copy
    }
}
