#if HTTPTypes
    public import Dunlin
    public import HTTPTypes

    extension RequestHead {
        /// Creates the same request: method, scheme, authority, path and fields.
        ///
        /// Throws a `NetworkError` with code `invalidRequest`, which says where the problem is, if:
        /// - `scheme` is not http or https, or `authority` is missing or more than a host and a port
        /// - `path` is not what is sent after the host, character by character: blanks, control characters, `#`, a
        ///   whole URL, dot segments. `*` is for OPTIONS
        /// - the fields have a Host other than `authority`, a Transfer-Encoding, or a Content-Length that is no
        ///   number
        /// - the method is CONNECT, which names no resource
        ///
        /// Several Cookies become one. Host is left out, for it is `origin`.
        public init(_ request: HTTPRequest) throws {
            let parts = try RequestParts(request)
            guard let origin = parts.origin else { throw Refusal.request(":authority is missing") }
            self.init(
                method: HTTP.Method(request.method.rawValue), origin: origin, target: parts.path, fields: parts.fields)
        }
    }

    extension HTTPRequest {
        /// Creates the same request: method, scheme, authority, path and fields.
        ///
        /// Throws as `RequestHead.init(_:)` does, and if a field would change. Host is left out, for it is `authority`.
        /// A Unix socket that leads to the origin is not part of the result.
        public init(_ head: RequestHead) throws {
            guard let method = Method(head.method.rawValue) else { throw Refusal.request("the method is no token") }
            self.init(method: method, scheme: head.origin.scheme.rawValue, authority: nil, path: nil)
            // Set after they were checked: this type replaces what it does not allow by spaces.
            _ = try RequestText.authority(head.origin.authority, name: "the origin")
            authority = head.origin.authority
            if let problem = RequestParts.problem(inPath: head.target, of: method) {
                throw Refusal.request("the target \(problem)")
            }
            path = head.target
            headerFields = try HTTPFields(head.fields)
            headerFields = try HTTPFields(RequestParts(self, joinsCookies: false).fields)
        }
    }

    /// A request, checked and taken apart.
    package struct RequestParts {
        package let scheme: HTTP.Origin.Scheme?
        package let authority: RequestText.Authority?
        package let path: String
        /// Without Host.
        package let fields: Fields

        package init(_ request: HTTPRequest, joinsCookies: Bool = true) throws {
            guard request.method != .connect, request.extendedConnectProtocol == nil else {
                throw Refusal.request("CONNECT makes a tunnel, and a session does that by itself: see `proxy`")
            }
            scheme = try request.scheme.map(Self.scheme)
            authority = try request.authority.map { try RequestText.authority($0, name: ":authority") }
            if authority != nil, scheme == nil { throw Refusal.request(":scheme is missing") }
            guard let path = request.path else { throw Refusal.request(":path is missing") }
            if let problem = Self.problem(inPath: path, of: request.method) {
                throw Refusal.request(":path \(problem)")
            }
            self.path = path
            let fields = try FramingFields.checked(Fields(request.headerFields), against: authority, scheme)
            self.fields = joinsCookies ? fields.joiningCookies : fields
        }

        package static func problem(inPath path: String, of method: HTTPRequest.Method) -> String? {
            path == "*" && method == .options ? nil : RequestText.problem(inPath: path)
        }

        private static func scheme(_ text: String) throws -> HTTP.Origin.Scheme {
            guard let scheme = HTTP.Origin.Scheme(rawValue: text.lowercased()) else {
                throw NetworkError(.unsupportedScheme, ":scheme is neither http nor https")
            }
            return scheme
        }

        package var origin: HTTP.Origin? {
            guard let scheme, let authority else { return nil }
            return HTTP.Origin(scheme: scheme, host: authority.unbracketed, port: authority.port)
        }
    }
#endif
