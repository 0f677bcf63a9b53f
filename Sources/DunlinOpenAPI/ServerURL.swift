#if OpenAPI
    import Dunlin
    import DunlinHTTPTypes
    import FoundationEssentials
    import HTTPTypes

    /// The URL that a client's operations are relative to.
    struct ServerURL {
        private let url: URL
        /// The URL without a last slash.
        private let text: String

        init(_ url: URL) throws {
            self.url = url
            let text = url.absoluteString
            if text.contains("?") || text.contains("#") { throw Self.refusal("has a query or a fragment") }
            if text.hasPrefix("//") { throw Self.refusal("has a host, but no scheme") }
            self.text = text.hasSuffix("/") ? String(text.dropLast()) : text
        }

        private static func refusal(_ problem: String) -> NetworkError {
            NetworkError(.invalidRequest, "the server URL \(problem)")
        }

        /// The target to request, and the operation's fields without Host.
        func parts(of request: HTTPRequest) throws -> (target: String, fields: Fields) {
            let parts = try RequestParts(try placed(request))
            guard parts.path != "*" else { throw NetworkError(.invalidRequest, ":path is *, which is no URL") }
            if text.isEmpty, parts.path.hasPrefix("//") {
                throw NetworkError(.invalidRequest, ":path begins with two slashes, and they would name a host")
            }
            return (text + parts.path, parts.fields)
        }

        /// The request with this URL's scheme and authority, if it names any of its own: those must be the same, for
        /// what decides where it goes is this URL.
        private func placed(_ request: HTTPRequest) throws -> HTTPRequest {
            let hasHost = request.headerFields.contains { $0.name.canonicalName == "host" }
            if request.scheme == nil, request.authority == nil, !hasHost { return request }
            guard let scheme = url.scheme.flatMap({ HTTP.Origin.Scheme(rawValue: $0.lowercased()) }),
                let host = url.host()
            else {
                throw NetworkError(
                    .invalidRequest,
                    "the operation's request names a host, and the server URL names none: give it one, or leave scheme "
                        + "and authority out of the request")
            }
            var placed = request
            placed.scheme = scheme.rawValue
            let literal = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            placed.authority = literal + (url.port.map { ":\($0)" } ?? "")
            let isSame = try request.authority.map {
                try RequestText.authority($0, name: ":authority").explicit(scheme)
                    == RequestText.authority(placed.authority ?? "", name: "the server URL").explicit(scheme)
            }
            guard isSame ?? true, request.scheme.map({ $0.lowercased() == scheme.rawValue }) ?? true else {
                let server = "\(scheme.rawValue)://\(placed.authority ?? "")"
                throw NetworkError(
                    .invalidRequest,
                    "the operation's request has another scheme, host or port than the server URL, \(server); leave "
                        + "scheme and authority out of the request")
            }
            return placed
        }
    }
#endif
