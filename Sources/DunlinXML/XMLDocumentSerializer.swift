public import Dunlin

/// A serializer for XML documents.
///
/// Expects `application/xml`, `text/xml` or any type that is asked for besides, such as `.accepting("+xml")`. Throws
/// `XML.Error` for what is not well formed. An empty body is an error.
public struct XMLDocumentSerializer: ResponseSerializer {
    public var rules: HTTP.ResponseRules
    public var limits: XML.Limits

    public init(limits: XML.Limits = XML.Limits(), rules: HTTP.ResponseRules = .xml) {
        self.limits = limits
        self.rules = rules
    }

    public var accept: String? { "application/xml, text/xml" }

    public func serialize(_ response: HTTP.WholeResponse) throws -> XML.Document {
        try XML.Document(response.body, charset: response.charset, limits: limits)
    }
}

/// The body as events, which are read when they are asked for: what is not well formed shows only then.
public struct XMLEventsSerializer: ResponseSerializer {
    public var rules: HTTP.ResponseRules
    public var limits: XML.Limits

    public init(limits: XML.Limits = XML.Limits(), rules: HTTP.ResponseRules = .xml) {
        self.limits = limits
        self.rules = rules
    }

    public var accept: String? { "application/xml, text/xml" }

    public func serialize(_ response: HTTP.WholeResponse) -> XML.Events {
        XML.Events(response.body, charset: response.charset, limits: limits)
    }
}

extension ResponseSerializer where Self == XMLDocumentSerializer {
    public static var xml: XMLDocumentSerializer { XMLDocumentSerializer() }
}

extension ResponseSerializer where Self == XMLEventsSerializer {
    public static var xmlEvents: XMLEventsSerializer { XMLEventsSerializer() }
}

extension HTTP.ResponseRules {
    /// Accepts XML with status 2xx.
    public static let xml = Self(contentTypes: ["application/xml", "text/xml"])
}
