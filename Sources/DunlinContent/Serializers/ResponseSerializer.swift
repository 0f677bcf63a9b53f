/// Makes a value of a response. A value itself, and shared by any number of requests.
///
/// Runs where the caller of the request runs, after the response has arrived; `Output` need not be Sendable.
public protocol ResponseSerializer<Output>: Sendable {
    associatedtype Output

    /// Which responses it takes. The default is any content with a status of 2xx.
    var rules: HTTP.ResponseRules { get }

    /// What to ask the server for, unless the request says so itself.
    var accept: String? { get }

    /// Throws if the response may not be serialized at all. The default goes by the rules.
    func validate(_ response: HTTP.WholeResponse) throws

    /// The value. Also asked of a response that was not acceptable, when somebody wants to know what it says.
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
    /// Takes content of these types too: `.json(Item.self).accepting("text/plain", "+json")`.
    public func accepting(_ contentTypes: String...) -> Self {
        var copy = self
        copy.rules.contentTypes = rules.contentTypes?.union(HTTP.ContentTypes(contentTypes))
        return copy
    }

    /// Takes no body whose type nobody declared: `.json(Item.self).requiringContentType()`.
    public func requiringContentType() -> Self {
        var copy = self
        copy.rules.requiresContentType = true
        return copy
    }

    /// Takes these statuses too: `.json(Item?.self).accepting(statuses: [404])`.
    public func accepting(statuses: HTTP.StatusSet) -> Self {
        var copy = self
        copy.rules.statuses = rules.statuses?.union(statuses)
        return copy
    }

    /// Takes what these rules take, and nothing else.
    public func with(rules: HTTP.ResponseRules) -> Self {
        var copy = self
        copy.rules = rules
        return copy
    }
}
