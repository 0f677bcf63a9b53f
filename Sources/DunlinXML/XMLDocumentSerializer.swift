public import Dunlin

/// A serializer for XML documents.
///
/// It expects `application/xml`, `text/xml` or a type added by `.accepting("+xml")`. Throws an `XML.Error` for a
/// document that is not well formed. An empty body is an error.
public struct XMLDocumentSerializer: AdjustableSerializer {
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

/// A serializer for XML events, which are read on demand, so only then can an error in the document appear.
public struct XMLEventsSerializer: AdjustableSerializer {
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
