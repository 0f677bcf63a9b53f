extension HTTP {
    /// The responses that a serializer accepts.
    public struct ResponseRules: Sendable, Hashable, Codable {
        /// The accepted statuses; nil for any.
        public var statuses: StatusSet?
        /// The accepted content types; nil for any. A response without a declared type is accepted, and an empty body
        /// needs none.
        public var contentTypes: ContentTypes?
        /// Whether a body without a declared type is refused, as AFNetworking does. An empty body needs none.
        public var requiresContentType: Bool

        public init(
            statuses: StatusSet? = .success, contentTypes: ContentTypes? = nil, requiresContentType: Bool = false
        ) {
            self.statuses = statuses
            self.contentTypes = contentTypes
            self.requiresContentType = requiresContentType
        }

        /// Accepts any content with status 2xx.
        public static let success = ResponseRules()

        /// Throws the reason if a response is not accepted.
        public func check(_ response: HTTP.WholeResponse) throws {
            guard
                var refusal = refusal(
                    of: response.head, hasContent: !response.body.isEmpty, in: response.settings)
            else { return }
            refusal.body = response.body.beginning(upTo: NetworkError.keptBody)
            throw refusal
        }

        /// The reason why a response with this head is not accepted; nil if it is. If neither status nor type is
        /// accepted, the error about the type is the underlying one.
        package func refusal(
            of head: ResponseHead, hasContent: Bool = true, in session: ContentSettings?
        ) -> NetworkError? {
            let type = hasContent ? refusedType(head, session) : nil
            guard let statuses, !statuses.contains(head.status), session?.statuses.contains(head.status) != true else {
                return type
            }
            return NetworkError(
                .unacceptableStatus, "the server answered \(head.status)", requestMayHaveBeenSent: true,
                underlying: type, response: head)
        }

        private func refusedType(_ head: ResponseHead, _ session: ContentSettings?) -> NetworkError? {
            let declared = head.fields["content-type"]
            if declared == nil, !requiresContentType { return nil }
            if let declared, contentTypes?.contains(declared) ?? (!declared.isEmpty || !requiresContentType) {
                return nil
            }
            if let declared, session?.contentTypes.contains(declared) == true { return nil }
            let reason =
                contentTypes.map { types in
                    let wanted = types.patterns.joined(separator: ", ")
                    return "the content type is \(declared ?? "not declared"), expected one of \(wanted)"
                } ?? "the response declares no content type, and `requiresContentType` is set"
            return NetworkError(
                .unacceptableContentType, reason, requestMayHaveBeenSent: true, response: head)
        }
    }
}

extension HTTP.ResponseRules {
    /// Also reads text from before a newer setting existed.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            statuses: try container.decodeIfPresent(HTTP.StatusSet.self, forKey: .statuses),
            contentTypes: try container.decodeIfPresent(HTTP.ContentTypes.self, forKey: .contentTypes),
            requiresContentType: try container.decodeIfPresent(Bool.self, forKey: .requiresContentType) ?? false)
    }
}

extension Bytes {
    /// The first bytes, up to `limit`, without keeping the rest in memory.
    package func beginning(upTo limit: Int) -> Bytes {
        let kept = self[0..<Swift.min(count, Swift.max(limit, 0))]
        return kept.count < count / 2 ? Bytes(kept.array) : kept
    }
}

extension NetworkError {
    /// How much of a refused body an error carries by default.
    package static var keptBody: Int { 256 * 1024 }

    /// The error with as much of the refused body as the request asks for.
    package func carrying(_ body: Bytes, upTo limit: Int) -> NetworkError {
        guard let own = self.body, own == body.beginning(upTo: Self.keptBody) else { return self }
        var error = self
        error.body = body.beginning(upTo: limit)
        return error
    }

    /// Creates the error for a complete response that cannot be used.
    package init(
        _ code: Code, _ reason: String, refusing response: HTTP.WholeResponse,
        underlying: (any Error)? = nil
    ) {
        self.init(
            code, reason, requestMayHaveBeenSent: true, underlying: underlying, response: response.head,
            body: response.body.beginning(upTo: NetworkError.keptBody))
    }
}
