internal import DunlinSemantics

extension HTTPSession {
    /// The request that one hop sends.
    public struct RedirectRequest: Sendable {
        public var method: HTTP.Method
        /// The absolute URL, without user info.
        public var url: String
        public var fields: Fields
        public var body: RequestBody

        public init(method: HTTP.Method, url: String, fields: Fields = Fields(), body: RequestBody = .none) {
            self.method = method
            self.url = url
            self.fields = fields
            self.body = body
        }
    }
}

extension HTTPSession.RedirectRequest: CustomStringConvertible, CustomReflectable {
    /// Method and URL, without query values whose names look secret. Of the session's own secret names, only fields
    /// that were marked with them are known here.
    public var description: String { VisibleText.of("\(method) \(WebAddress.named(url))") }

    public var customMirror: Mirror {
        Mirror(
            self, children: ["method": method, "url": WebAddress.named(url), "fields": fields, "body": "not shown"],
            displayStyle: .struct)
    }
}
