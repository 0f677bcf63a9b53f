#if HTTPTypes
    public import Dunlin
    public import HTTPTypes

    extension ResponseHead {
        /// Creates the same response: status and fields. A reason phrase does not come along, as nothing depends on it.
        ///
        /// Throws a `NetworkError` with code `invalidResponse` if a field cannot be kept as it is, or the length is
        /// given twice: by two Content-Lengths, or beside a Transfer-Encoding.
        public init(_ response: HTTPResponse, version: HTTP.Version = .http11) throws {
            let fields = try Fields(response.headerFields, Refusal.response)
            try FramingFields.check(response: fields)
            self.init(version: version, status: HTTP.Status(response.status.code), fields: fields)
        }
    }

    extension HTTPResponse {
        /// Creates the same response: status, reason phrase and fields, as they were received. The version does not
        /// come along, nor does a Content-Length beside a Transfer-Encoding: it means nothing there, and whoever
        /// passed both on would give the body two lengths (RFC 9112 §6.3).
        ///
        /// Throws a `NetworkError` with code `invalidResponse` if something would change.
        public init(_ head: ResponseHead) throws {
            guard (0...999).contains(head.status.code) else {
                throw Refusal.response("the status \(head.status.code) has more than three digits")
            }
            // Latin-1, which is what this type wants a phrase to be.
            let phrase = String(String.UnicodeScalarView(head.reason.map { Unicode.Scalar($0) }))
            let status = Status(code: head.status.code, reasonPhrase: phrase)
            guard status.reasonPhrase == phrase else {
                throw Refusal.response("the reason phrase has characters that `HTTPResponse` replaces by spaces")
            }
            var fields = head.fields
            if fields.contains("transfer-encoding") { fields["content-length"] = nil }
            self.init(status: status, headerFields: try HTTPFields(fields, Refusal.response))
        }
    }
#endif
