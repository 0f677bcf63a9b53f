internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

extension HTTPSession {
    /// A request as it was made: later changes to the session or options do not affect it. It is immutable, and passed
    /// by reference because many functions pass it on.
    package final class Call: Sendable {
        package let session: SessionCore
        let kind: TaskKind
        package let head: RequestHead
        /// The target as the caller wrote it, without values.
        let targetTemplate: String
        /// Whether the program contains the template.
        let hasTemplate: Bool
        /// Whether the session makes the call for itself, to revalidate a stored response.
        let isRevalidation: Bool
        /// What its URL contains beyond the address.
        let extras: RequestBuilder.Extras?
        let body: RequestBody
        package let options: Options
        package let reading: Reading
        /// Its observers, other than its caller.
        let observers: RequestObservers?
        /// The list that lists it, and on whose loop it runs.
        let list: TaskList
        /// The session's era when the call was made.
        let era: TaskRegistry.Era
        /// The password for challenges of the base URL's origin when the call was made.
        let basePassword: HTTPSession.Password?
        /// The number of the session's jar when the call was made: after all cookies were removed, those that come are
        /// another user's.
        let jarNumber: String?

        init(
            _ session: SessionCore, kind: TaskKind, head: RequestHead, template: String, hasTemplate: Bool,
            isRevalidation: Bool = false, extras: RequestBuilder.Extras? = nil, body: RequestBody, options: Options,
            reading: Reading, observers: RequestObservers? = nil, list: TaskList
        ) throws {
            do {
                era = try session.tasks.era
            } catch {
                throw error.named(.init(head: head, body: body), nil, reading.errors)
            }
            self.session = session
            (self.kind, self.head, self.targetTemplate, self.extras) = (kind, head, template, extras)
            (self.hasTemplate, self.isRevalidation) = (hasTemplate, isRevalidation)
            (self.body, self.options, self.reading) = (body, options, reading)
            (self.observers, self.list) = (observers, list)
            basePassword = session.builder.baseOriginSettings.values?.password
            jarNumber = session.configuration.cookies?.number
        }
    }

    /// How a whole body is read.
    package struct Reading: Sendable {
        /// The greatest number of bytes; nil for no limit.
        var limit: Int?
        var decodes: Bool
        package var errors: ErrorRules
        /// How many bytes of a body an error carries.
        package var kept: Int { errors.keptBody }
    }
}

// MARK: - Making one

extension SessionCore {
    /// Creates a call. Throws if it cannot be sent, and if the session is shut down.
    package func call(
        _ method: HTTP.Method, _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), body: RequestBody = .none,
        options: HTTPSession.Options, accept: String? = nil, kind: HTTPSession.TaskKind? = nil, isObserved: Bool
    ) throws -> HTTPSession.Call {
        // Nothing of other options is copied.
        if method == .trace, !options.isWithoutUser {
            return try call(
                method, target, query: query, body: body, options: options.withoutUser, accept: accept, kind: kind,
                isObserved: isObserved)
        }
        do {
            var extras: RequestBuilder.Extras?
            var head = try builder.head(
                method, target, query: query, body: body, own: options.fields, accept: accept,
                expectsContinue: options.expectsContinue, extras: &extras)
            if !options.decodesContent { builder.leaveOutCodings(&head, options.fields) }
            if let rare = options.rare { try rare.complete(&head, options.fields, builder.basic) }
            let list = list
            return try HTTPSession.Call(
                self, kind: kind ?? .of(body), head: head,
                template: extras?.userInfo == nil ? target.template : WebAddress.withoutUserInfo(target.template),
                hasTemplate: target.hasTemplate, extras: extras, body: body, options: options,
                reading: reading(options, extras, head.origin),
                observers: isObserved ? observers(options, .init(head: head, body: body), extras, on: list.loop) : nil,
                list: list)
        } catch {
            throw error.named(method, target, hiding: configuration.secretFields)
        }
    }

    /// Creates a call of the session's own to where `call` led. Hooks decide about it as about `call`. Passwords of
    /// `call` are for its first origin only.
    func ownCall(insteadOf call: HTTPSession.Call, _ head: RequestHead) throws -> HTTPSession.Call {
        var options = call.options
        let isMoved = !head.origin.isSame(as: call.head.origin)
        options.changeRare { values in
            let storing = values.hooks?.storing
            values.hooks = HTTPSession.Hooks()
            values.hooks?.storing = storing
            (values.redirects, values.retry, values.cacheMode) = (.none, .none, .validating)
            (values.startsAfter, values.label, values.coalesces) = ([], nil, false)
            (values.begun, values.keepsProvenance) = (nil, false)
            if isMoved, case .value = values.credentials { values.credentials = .none }
        }
        let (extras, list) = (isMoved ? nil : call.extras, list)
        return try HTTPSession.Call(
            self, kind: call.kind, head: head, template: call.targetTemplate,
            hasTemplate: call.hasTemplate, isRevalidation: true, extras: extras, body: .none, options: options,
            reading: HTTPSession.Reading(limit: call.reading.limit, decodes: false, errors: call.reading.errors),
            observers: isObserved(options)
                ? observers(options, .init(head: head, body: .none), extras, on: list.loop) : nil,
            list: list)
    }

    private func reading(
        _ options: HTTPSession.Options, _ extras: RequestBuilder.Extras?, _ origin: HTTP.Origin
    ) -> HTTPSession.Reading {
        HTTPSession.Reading(
            limit: options.bodyLimit.resolved(configuration.limits.bodyBytes),
            decodes: options.decodesContent,
            errors: errorRules(options, extras, at: origin))
    }

    /// The rules for what a request's errors show of its response's body.
    func errorRules(
        _ options: HTTPSession.Options, _ extras: RequestBuilder.Extras? = nil, at origin: HTTP.Origin? = nil
    ) -> ErrorRules {
        ErrorRules(
            keptBody: options.errorBodyLimit.resolved(configuration.limits.errorBodyBytes) ?? .max,
            showsBody: configuration.showsRefusedBodies,
            curl: options.rare == nil && options.decodesContent && extras?.userInfo == nil
                && !builder.baseOriginSettings.isSet
                ? curl : curl(options, login(options, extras, at: origin)))
    }

    private func curl(_ options: HTTPSession.Options, _ login: CurlSettings.Login?) -> CurlSettings {
        let redirects = options.redirects
        return curl.with(
            redirects.isSession ? nil : (redirects.own ?? .never).rules, decodes: options.decodesContent, login: login,
            proxyUse: options.rare?.values.curl)
    }

    /// What answers challenges of this origin: the request's own password or the session's.
    private func login(
        _ options: HTTPSession.Options, _ extras: RequestBuilder.Extras?, at origin: HTTP.Origin?
    ) -> CurlSettings.Login? {
        var login: CurlSettings.Login?
        switch options.credentials {
        case .none: return nil
        case .value(let credentials): login = HTTPSession.Password(credentials)?.login
        case .session:
            guard extras?.userInfo != nil, let origin, let own = builder.password(of: extras, at: origin) else {
                login = builder.baseOriginSettings.values?.password?.login
                login?.origin = builder.baseOrigin
                return login
            }
            login = own.login
        }
        login?.origin = origin
        return login
    }

    /// Whether a request has observers other than its caller: hooks, observers of events or of the session, a queue.
    func isObserved(_ options: HTTPSession.Options) -> Bool {
        hub.hasObservers || options.rare?.isObserved == true || configuration.observers.contains { $0.isWatching }
    }

    private func observers(
        _ options: HTTPSession.Options, _ request: RequestRecord.Source, _ extras: RequestBuilder.Extras?,
        on loop: Reactor
    ) -> RequestObservers {
        var request = request
        request.total = options.timeLimits?.timeouts.over(configuration.timeouts).total ?? configuration.timeouts.total
        return RequestObservers(
            [options.hooks, configuration.hooks], hub, TransferControl(on: loop, priority: options.priority),
            request, errorRules(options, extras, at: request.head.origin).curl)
    }
}

extension HTTPSession.Call {
    var loop: Reactor { list.loop }

    /// Whether the answer may be kept outside the session's cache: in a file, or as a picture.
    var isKept: Bool {
        kind == .download || options.rare?.values.keepsProvenance == true
            || observers.map { $0.hasHook(\.destination) || $0.hasHook(\.response) } == true
    }

    /// The request as the caller made it.
    var source: RequestRecord.Source { RequestRecord.Source(head: head, body: body, total: timeouts.total) }

    /// The request's limits.
    var timeouts: Timeouts {
        let usual = session.configuration.timeouts
        return options.timeLimits?.timeouts.over(usual) ?? usual
    }

    /// The request to send, which began at `start`.
    func request(_ body: RequestBody, since start: HTTP.Instant) throws -> TransportRequest {
        var timeouts = timeouts
        let deadline = try InheritedDeadline.end(&timeouts, from: start)
        return TransportRequest(
            head: head, body: body, timeouts: timeouts, deadline: deadline,
            priority: observers?.control.queueStatus.priority ?? options.priority,
            continueTimeout: options.continueTimeout)
    }
}
