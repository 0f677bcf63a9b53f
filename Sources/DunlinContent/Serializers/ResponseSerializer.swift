/// A type that makes a value from a response. Any number of requests may share a serializer.
///
/// It runs where the request's caller runs, after the response has arrived, so `Output` need not be Sendable.
public protocol ResponseSerializer<Output>: Sendable {
    associatedtype Output

    /// The rules for the responses that it accepts. The default is any content with status 2xx.
    var rules: HTTP.ResponseRules { get }

    /// The `Accept` field to send, unless the request has its own.
    var accept: String? { get }

    /// Throws if the response may not be serialized. The default checks `rules`.
    func validate(_ response: HTTP.WholeResponse) throws

    /// Returns the value of a response. Also called for a refused response when somebody wants to read its body.
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
    /// Returns a copy that also accepts these types: `.json(Item.self).accepting("text/plain", "+json")`.
    public func accepting(_ contentTypes: String...) -> Self {
        var copy = self
        copy.rules.contentTypes = rules.contentTypes?.union(HTTP.ContentTypes(contentTypes))
        return copy
    }

    /// Returns a copy that refuses a body without a declared type: `.json(Item.self).requiringContentType()`.
    public func requiringContentType() -> Self {
        var copy = self
        copy.rules.requiresContentType = true
        return copy
    }

    /// Returns a copy that also accepts these statuses: `.json(Item?.self).accepting(statuses: [404])`.
    public func accepting(statuses: HTTP.StatusSet) -> Self {
        var copy = self
        copy.rules.statuses = rules.statuses?.union(statuses)
        return copy
    }

    /// Returns a copy with these rules instead of its own.
    public func with(rules: HTTP.ResponseRules) -> Self {
        var copy = self
        copy.rules = rules
        return copy
    }
}
