extension HTTPSession {
    /// Which responses a serializer takes.
    public struct ResponseRules: Sendable, Hashable, Codable {
        /// Nil for any.
        public var statuses: StatusSet?
        /// Nil for any. A response that declares no type is taken at its word, and an empty body has none.
        public var contentTypes: ContentTypes?

        public init(statuses: StatusSet? = .success, contentTypes: ContentTypes? = nil) {
            self.statuses = statuses
            self.contentTypes = contentTypes
        }

        /// Any content with a status of 2xx.
        public static let success = ResponseRules()

        /// Throws what speaks against a response.
        public func check(_ response: HTTPSession.Response<Bytes>) throws {
            guard var refusal = refusal(of: response.head, hasContent: !response.body.isEmpty) else { return }
            refusal.body = response.body.kept
            refusal.note(response.trail?.tries)
            throw refusal
        }

        /// What speaks against a response with such a head; nil if nothing does. If both its status and its type do,
        /// the type is what underlies.
        func refusal(of head: ResponseHead, hasContent: Bool = true) -> NetworkError? {
            let type = hasContent ? refusedType(head) : nil
            guard let statuses, !statuses.contains(head.status) else { return type }
            return NetworkError(
                .unacceptableStatus, "the server answered \(head.status)", requestMayHaveBeenSent: true,
                underlying: type, response: head)
        }

        private func refusedType(_ head: ResponseHead) -> NetworkError? {
            guard let contentTypes, let declared = head.fields["content-type"], !contentTypes.contains(declared)
            else { return nil }
            let wanted = contentTypes.patterns.joined(separator: ", ")
            let reason = "the content is \(declared), expected one of \(wanted)"
            return NetworkError(
                .unacceptableContentType, reason, requestMayHaveBeenSent: true, response: head)
        }
    }
}

extension Bytes {
    /// The most of a body that an error carries.
    fileprivate var kept: Bytes { self[0..<Swift.min(count, NetworkError.keptBody)] }
}

extension NetworkError {
    /// The most of a refused body that an error carries.
    static var keptBody: Int { 64 * 1024 }

    /// Of a response that arrived whole and cannot be used.
    init(
        _ code: Code, _ reason: String, refusing response: HTTPSession.Response<Bytes>,
        underlying: (any Error)? = nil
    ) {
        self.init(
            code, reason, requestMayHaveBeenSent: true, underlying: underlying, response: response.head,
            body: response.body.kept)
    }
}
