internal import DunlinReactor
internal import DunlinTransport

/// Carries a session's requests: our own sockets, known by their type so that the hot path pays for no indirection,
/// or somebody else's transport.
final class Carrier: Sendable {
    let sockets: SocketTransport?
    private let custom: (any Transport)?
    /// The sockets again, if nothing comes between them and a request: a session without a jar and without secrets of
    /// names of its own asks once.
    private let direct: SocketTransport?
    let settings: HopSettings
    /// A hook may give any request a body.
    private let givesBodies: Bool

    convenience init(
        _ configuration: HTTPSession.Configuration, _ builder: RequestBuilder, on loop: Reactor,
        _ advisor: SessionAdvisor
    ) {
        let settings = HopSettings(configuration, builder)
        if let transport = configuration.transport {
            self.init(transport, settings)
        } else {
            self.init(SocketTransport(configuration.socketOptions, on: loop, advisor: advisor), settings)
        }
    }

    init(_ sockets: SocketTransport, _ settings: HopSettings) {
        self.sockets = sockets
        custom = nil
        direct = settings.cookies == nil && settings.secretFields == .usual ? sockets : nil
        self.settings = settings
        givesBodies = settings.hooks.redirect != nil
    }

    init(_ custom: any Transport, _ settings: HopSettings) {
        sockets = nil
        self.custom = custom
        direct = nil
        self.settings = settings
        givesBodies = false
    }

    /// Whether a request may be tried again.
    @inline(__always)
    func retries(_ own: RequestSettings?) -> Bool { own?.retries ?? settings.retries.isSet }

    /// Whether somebody may be asked on a request's way about who we are or whom to trust.
    @inline(__always)
    func asks(_ own: RequestSettings?) -> Bool { settings.asks || own?.options.authenticate != nil }

    /// Whether a request with this body must be made within an `UploadScope`.
    @inline(__always)
    func needsScope(_ body: borrowing RequestBody, _ own: RequestSettings?) -> Bool {
        if givesBodies { return true }
        return sockets != nil && (UploadScope.isNeeded(for: body) || own?.options.hooks?.redirect != nil)
    }

    func exchange(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ uploads: UploadScope?,
        since start: MonotonicTime, on loop: Reactor
    ) async throws -> TransportResponse {
        if let direct {
            return try await direct.exchange(
                request, interrupt: delegate.interrupt, uploads: uploads, attendants: delegate.settings?.attendants,
                since: start, on: loop)
        }
        return try await indirectExchange(request, delegate, uploads, since: start, on: loop)
    }

    /// The jar's cookies are chosen for each hop and belong to what is sent, not to the request that goes on from here.
    @inline(never)
    private func indirectExchange(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ uploads: UploadScope?,
        since start: MonotonicTime, on loop: Reactor
    ) async throws -> TransportResponse {
        let jar = cookies(for: delegate)
        let completed = jar?.completing(request) ?? request
        let response = try await plainExchange(completed, delegate, uploads, since: start, on: loop)
        jar?.receive(response.head.fields, from: request.head)
        return response.marking(settings.secretFields)
    }

    private func plainExchange(
        _ request: TransportRequest, _ delegate: TaskDelegate, _ uploads: UploadScope?,
        since start: MonotonicTime, on loop: Reactor
    ) async throws -> TransportResponse {
        guard let sockets else { return try await foreignExchange(request, delegate.interrupt, on: loop) }
        return try await sockets.exchange(
            request, interrupt: delegate.interrupt, uploads: uploads, attendants: delegate.settings?.attendants,
            since: start, on: loop)
    }

    /// The session's jar, unless the request wants nothing of it.
    func cookies(for delegate: TaskDelegate) -> CookieJar? {
        delegate.settings?.options.handlesCookies == false ? nil : settings.cookies
    }

    @inline(never)
    private func foreignExchange(
        _ request: TransportRequest, _ interrupt: Interrupt, on loop: Reactor
    ) async throws -> TransportResponse {
        guard let custom else { throw NetworkError(.invalidConfiguration, "the session has no transport") }
        return try await foreign(until: request.deadline, request.timeouts.total, interrupt, on: loop) {
            try await custom.exchange(request)
        }
    }

    /// Work that knows only task cancellation, under the request's own switch and deadline.
    func foreign<Value: Sendable>(
        until deadline: MonotonicTime, _ limit: Duration?, _ interrupt: Interrupt, on loop: Reactor,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await Race.run(until: deadline, interrupt, on: loop, work)
        } catch Race.Lost.timedOut {
            throw NetworkError(
                .timedOut, "the request took too long", phase: .total, requestMayHaveBeenSent: true, limit: limit)
        } catch Race.Lost.interrupted {
            if interrupt.cause == .task { throw CancellationError() }
            throw NetworkError(.cancelled, "the request was cancelled", requestMayHaveBeenSent: true)
        }
    }
}
