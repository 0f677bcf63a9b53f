/// Another serializer with other rules.
struct RuledSerializer<Base: ResponseSerializer>: ResponseSerializer {
    let base: Base
    let rules: HTTP.ResponseRules

    var accept: String? { base.accept }

    func validate(_ response: HTTP.WholeResponse, by rules: HTTP.ResponseRules) throws {
        try base.validate(response, by: rules)
    }

    func serialize(_ response: HTTP.WholeResponse) throws -> Base.Output { try base.serialize(response) }
}

extension ResponseSerializer {
    /// Accepts content of these types too: `.json(Item.self).accepting("text/plain", "+json")`.
    public func accepting(_ contentTypes: String...) -> some ResponseSerializer<Output> {
        var rules = rules
        rules.contentTypes = rules.contentTypes?.union(HTTP.ContentTypes(contentTypes))
        return RuledSerializer(base: self, rules: rules)
    }

    /// Accepts no body without a declared type: `.json(Item.self).requiringContentType()`.
    public func requiringContentType() -> some ResponseSerializer<Output> {
        var rules = rules
        rules.requiresContentType = true
        return RuledSerializer(base: self, rules: rules)
    }

    /// Accepts these statuses too: `.json(Item?.self).accepting(statuses: [404])`.
    public func accepting(statuses: HTTP.StatusSet) -> some ResponseSerializer<Output> {
        var rules = rules
        rules.statuses = rules.statuses?.union(statuses)
        return RuledSerializer(base: self, rules: rules)
    }

    /// Accepts what these rules accept, and nothing else.
    public func with(rules: HTTP.ResponseRules) -> some ResponseSerializer<Output> {
        RuledSerializer(base: self, rules: rules)
    }
}
