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

        /// Throws what speaks against a response. If both its status and its type do, the type is what underlies.
        public func check(_ response: HTTPSession.Response<Bytes>) throws {
            let type = refusedType(response)
            if let statuses, !statuses.contains(response.status) {
                let reason = "the server answered \(response.status)"
                throw NetworkError(.unacceptableStatus, reason, refusing: response, underlying: type)
            }
            if let type { throw type }
        }

        private func refusedType(_ response: HTTPSession.Response<Bytes>) -> NetworkError? {
            guard let contentTypes, !response.body.isEmpty, let declared = response.fields["content-type"],
                !contentTypes.contains(declared)
            else { return nil }
            let wanted = contentTypes.patterns.joined(separator: ", ")
            let reason = "the content is \(declared), expected one of \(wanted)"
            return NetworkError(.unacceptableContentType, reason, refusing: response)
        }
    }
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
            body: response.body[0..<min(response.body.count, Self.keptBody)])
    }
}
