internal import DunlinInflate
internal import DunlinSemantics
internal import DunlinTransport
internal import DunlinWire

/// Makes requests from a caller's arguments, the session's base and defaults, and options.
///
/// It is made once for a session and never changes, except for its rule about clear text, so requests share it without
/// a lock.
final class RequestBuilder: Sendable {
    private let base: WebAddress?
    private let fields: Fields
    /// The session's fields, ready for requests that add none.
    private let prepared: PreparedFields?
    /// What requests to the base's origin have in addition.
    let baseOriginSettings: BaseOriginSettings
    private let routes: Routes?
    /// The rules for making connections; nil for the usual ones.
    let connectionRules: ConnectionRules?
    /// Whether the session sets its own `Accept`, which a serializer then does not change.
    private let ownsAccept: Bool
    /// The usual `Accept-Encoding`.
    private let codings: String?
    let clearText: ClearTextRule
    let basic: BasicRule
    private let secretFields: HTTP.SecretFields

    /// What a URL contains beyond the address. An object, since almost no URL has any of it.
    final class Extras: Sendable {
        let userInfo: WebAddress.UserInfo?
        let fragment: String?

        init(userInfo: WebAddress.UserInfo?, fragment: String?) {
            self.userInfo = userInfo
            self.fragment = fragment
        }
    }

    init(_ configuration: HTTPSession.Configuration) throws {
        try configuration.validate()
        do throws(AddressError) {
            // A session for WebSockets may have their scheme; its requests are by HTTP all the same.
            base = try configuration.baseURL.map { url throws(AddressError) in
                try WebAddress(base: WebSocketScheme.overHTTP(url))
            }
        } catch {
            throw NetworkError(.invalidConfiguration, "the base URL cannot be used", underlying: error)
        }
        var fields = configuration.fields
        secretFields = configuration.secretFields
        fields.mark(secretFields)
        codings = configuration.codecs.accepted
        Self.leaveOutCodingsOfPart(&fields, usual: codings)
        self.fields = fields
        ownsAccept = Self.isOwn("accept", fields, besides: HTTPSession.Configuration.defaultFields["accept"])
        prepared = try Self.prepare(fields)
        connectionRules = try configuration.connectionRules()
        basic = BasicRule(
            policy: configuration.basicInClearText, warnings: SecurityWarnings(configuration.securityWarningHandler),
            connectionRules: connectionRules)
        let routes = try Routes.of(configuration, base: base?.origin)
        self.routes = routes
        baseOriginSettings = try BaseOriginSettings(
            configuration, fields, base, over: base.map { routes?.routed($0.origin) ?? $0.origin }, basic)
        clearText = ClearTextRule(configuration.tls.policy)
        if configuration.authentication != nil { try checkAuthentication() }
    }

    /// Throws if authentication would have no effect.
    private func checkAuthentication() throws {
        guard base != nil else {
            throw NetworkError(
                .invalidConfiguration, "`authentication` only answers the base URL's origin; set `baseURL`")
        }
        if baseOriginSettings.hasAuthorization || fields.contains("authorization") {
            throw NetworkError(
                .invalidConfiguration, RequestBuilder.givenTwice)
        }
    }

    var baseOrigin: HTTP.Origin? { base?.origin }
    var basePath: String { base?.target ?? "/" }

    /// The head to send. `accept` and the body's content type apply unless the caller's fields override them, and
    /// `accept` only if the session's fields have none of their own. `extras` is set if the URL has any. Inlined,
    /// because a call with so many arguments costs as much as the work.
    func head(
        _ method: HTTP.Method, _ target: HTTP.Target, query: HTTP.Query, body: borrowing RequestBody, own: Fields,
        accept: String?, expectsContinue: Bool = false, extras: inout Extras?
    ) throws -> RequestHead {
        if let problem = target.problem { throw Self.refusal(of: target, problem) }
        var (origin, path) = try resolve(target, &extras)
        try clearText.check(origin)
        if !query.isEmpty { Self.append(query, to: &path) }
        let accept = ownsAccept ? nil : accept
        let isPlain = own.isEmpty && accept == nil && !expectsContinue && !Self.hasFields(body)
        if !isPlain, let type = body.contentType { try Self.check(type, goesWith: method) }
        let values = baseOriginSettings.values
        if values != nil || extras != nil {
            let isBaseOrigin = base.map { $0.origin.isSame(as: origin) } ?? false
            let hasPassword = try hasPassword(extras, isBaseOrigin: isBaseOrigin, own)
            if let routes { origin = routes.routed(origin) }
            if isBaseOrigin, isPlain, !hasPassword, let prepared = values?.prepared {
                return RequestHead(method: method, origin: origin, target: path, prepared: prepared)
            }
            var fields = fields(
                isBaseOrigin ? values?.fields.overlaid(with: own) ?? own : own, body, accept, expectsContinue)
            if hasPassword || isBaseOrigin && values?.authorization != nil && !own.contains("authorization") {
                fields.authorize(hasPassword ? nil : values?.authorization)
            }
            return RequestHead(method: method, origin: origin, target: path, fields: fields)
        }
        if let routes { origin = routes.routed(origin) }
        if let prepared, isPlain {
            return RequestHead(method: method, origin: origin, target: path, prepared: prepared)
        }
        let fields = fields(own, body, accept, expectsContinue)
        return RequestHead(method: method, origin: origin, target: path, fields: fields)
    }

    /// Appends a query. An existing `?` or `&` is not added again.
    private static func append(_ query: HTTP.Query, to path: inout String) {
        let text = query.encoded
        if text.isEmpty { return }
        if !path.utf8.contains(UInt8(ascii: "?")) {
            path += "?"
        } else if path.utf8.last != UInt8(ascii: "?"), path.utf8.last != UInt8(ascii: "&") {
            path += "&"
        }
        path += text
    }

    private static func isOwn(_ name: String, _ fields: Fields, besides usual: String?) -> Bool {
        fields.contains(name) && fields.values(of: name) != [usual].compactMap(\.self)
    }

    /// Removes `Accept-Encoding` for a request whose content codings stay on, unless the caller set the field.
    func leaveOutCodings(_ head: inout RequestHead, _ own: Fields) {
        Self.leaveOutCodings(&head.fields, usual: codings, own)
    }

    private static func leaveOutCodings(_ fields: inout Fields, usual codings: String?, _ own: Fields = Fields()) {
        if own.contains("accept-encoding") || isOwn("accept-encoding", fields, besides: codings) { return }
        fields.remove("accept-encoding")
    }

    /// Removes `Accept-Encoding` from a request for a range, unless the caller set it: a part of coded content cannot
    /// be decoded by itself.
    private static func leaveOutCodingsOfPart(
        _ fields: inout Fields, usual codings: String?, _ own: Fields = Fields()
    ) {
        if fields.contains("range") { leaveOutCodings(&fields, usual: codings, own) }
    }

    /// The same for a request that an interceptor turned into one for a range.
    func leaveOutCodingsOfPart(_ fields: inout Fields, insteadOf given: Fields) {
        if !given.contains("range") { Self.leaveOutCodingsOfPart(&fields, usual: codings) }
    }

    /// Whether the caller, and not the session by itself, asked for content codings.
    func asksForCodings(_ fields: Fields) -> Bool {
        fields.contains("range")
            ? fields.contains("accept-encoding") : Self.isOwn("accept-encoding", fields, besides: codings)
    }

    /// The head to send, for a URL without extras.
    func head(
        _ method: HTTP.Method, _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(),
        body: borrowing RequestBody = .none, own: Fields = Fields(), accept: String? = nil
    ) throws -> RequestHead {
        var extras: Extras?
        return try head(method, target, query: query, body: body, own: own, accept: accept, extras: &extras)
    }

    /// The origin with the session's route to it.
    func routed(_ origin: HTTP.Origin) -> HTTP.Origin { routes?.routed(origin) ?? origin }

    /// Throws for a multipart form with a method that has no body, in whatever case the method is written.
    private static func check(_ contentType: String, goesWith method: HTTP.Method) throws {
        guard isForm(contentType), ["GET", "HEAD"].contains(method.rawValue.uppercased())
        else { return }
        throw NetworkError(.invalidRequest, "\(method) cannot carry a multipart form")
    }

    /// Whether the content is a form. Its content type overrides any other, because it contains the boundary.
    private static func isForm(_ contentType: String) -> Bool { contentType.hasPrefix("multipart/form-data") }

    private static func hasFields(_ body: borrowing RequestBody) -> Bool {
        body.contentType != nil || body.trailers != nil
    }

    private func fields(
        _ own: Fields, _ body: borrowing RequestBody, _ accept: String?, _ expectsContinue: Bool
    ) -> Fields {
        var merged = fields.overlaid(with: own)
        if let coding = body.contentEncoding { merged["Content-Encoding"] = coding }
        if let accept, !own.contains("accept") { merged["Accept"] = accept }
        if let contentType = body.contentType {
            if Self.isForm(contentType) { merged.remove("content-type") }
            if !merged.contains("content-type") { merged.append(name: "Content-Type", value: contentType) }
        }
        if let names = body.trailers?.names, !names.isEmpty, !merged.contains("trailer") {
            merged.append(name: "Trailer", value: names.joined(separator: ", "))
        }
        // An expectation without a body is a mistake (RFC 9110 §10.1.1).
        if expectsContinue, body.mayHaveContent, !merged.contains("expect") {
            merged.append(name: "Expect", value: "100-continue")
        }
        Self.leaveOutCodingsOfPart(&merged, usual: codings, own)
        merged.mark(secretFields)
        return merged
    }
}

// MARK: - URLs

extension RequestBuilder {
    private func resolve(_ target: HTTP.Target, _ extras: inout Extras?) throws -> (HTTP.Origin, String) {
        if let direct = base?.directTarget(for: target.text) { return direct }
        return try resolveSlowly(target, &extras)
    }

    private func resolveSlowly(_ target: HTTP.Target, _ extras: inout Extras?) throws -> (HTTP.Origin, String) {
        let address = try address(of: target)
        if address.userInfo != nil || address.fragment != nil {
            extras = Extras(userInfo: address.userInfo, fragment: address.fragment)
        }
        return (address.origin, address.target)
    }

    private func address(of target: HTTP.Target) throws -> WebAddress {
        do throws(AddressError) {
            if let base { return try base.resolving(target.text) }
            return try WebAddress(target.text)
        } catch {
            let code: NetworkError.Code = error.problem == .unsupportedScheme ? .unsupportedScheme : .invalidRequest
            let lacksBase = base == nil && error.problem == .notAbsolute
            let reason =
                lacksBase
                ? "the session has no `baseURL`, so its requests need whole URLs" : "the URL of the request is invalid"
            throw NetworkError(code, reason, underlying: error.hiding(secretFields))
        }
    }

    private static func refusal(of target: HTTP.Target, _ problem: String) -> NetworkError {
        NetworkError(.invalidRequest, "\(WebAddress.named(target.template)) cannot be requested: \(problem)")
    }
}

// MARK: - Credentials

extension RequestBuilder {
    static let givenTwice = """
        credentials are given twice: by `authentication`, and by `credentials`, a field Authorization or the base URL; \
        give one
        """

    static func prepare(_ fields: Fields) throws -> PreparedFields? {
        do throws(WireError) {
            return try RequestEncoder.prepare(fields)
        } catch {
            throw NetworkError(
                .invalidConfiguration, "a field of `fields` or `originFields` cannot be sent", underlying: error)
        }
    }

    /// Whether the URL has its own password, which takes precedence over the session's credentials and field.
    private func hasPassword(_ extras: Extras?, isBaseOrigin: Bool, _ own: Fields) throws -> Bool {
        guard !own.contains("authorization"), let password = password(of: extras, isBaseOrigin: isBaseOrigin) else {
            return false
        }
        try password.check(.invalidRequest)
        return true
    }

    /// The password in a request's URL. A relative URL has the base's user info, which counts as the session's.
    private func password(of extras: Extras?, isBaseOrigin: Bool) -> HTTPSession.Password? {
        guard let info = extras?.userInfo, !isBaseOrigin || info != base?.userInfo else { return nil }
        return HTTPSession.Password(info)
    }

    /// The password in the URL of a request to this origin, for answering challenges.
    func password(of extras: Extras?, at origin: HTTP.Origin) -> HTTPSession.Password? {
        password(of: extras, isBaseOrigin: base.map { $0.origin.isSame(as: origin) } ?? false)
    }
}
