internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

extension HTTPSession {
    /// What was asked for, taken down when it was asked: what becomes of the session or the options afterwards does not
    /// matter to it.
    struct Call: Sendable {
        let kind: TaskKind
        let head: RequestHead
        /// The target as the caller wrote it, values left out.
        let template: String
        /// Of the URL.
        var fragment: String?
        let body: RequestBody
        let options: Options
        let reading: Reading
        /// Who else wants to know of it.
        var audience: Audience?
        /// Where it runs.
        var loop: Reactor
    }

    /// How a whole body is read.
    struct Reading: Sendable {
        /// Bytes; nil for any number.
        var limit: Int?
        var decodes: Bool
        /// How much of a body an error carries.
        var kept: Int
    }
}

// MARK: - Making one

extension HTTPSession {
    /// Throws for what cannot be sent.
    func call(
        _ method: Method, _ target: Target, query: Query = Query(), body: RequestBody = .none, options: Options,
        accept: String? = nil, kind: TaskKind? = nil, isWatched: Bool
    ) throws -> Call {
        var extras: RequestBuilder.Extras?
        var head = try builder.head(
            method, target, query, body, options.fields, accept, expectsContinue: options.expectsContinue, &extras)
        if !options.decodesContent { builder.leaveOutCodings(&head, options.fields) }
        if let rare = options.rare { try rare.complete(&head, options.fields) }
        let loop = loop
        let audience = isWatched ? audience(options, on: loop) : nil
        return Call(
            kind: kind ?? .of(body), head: head,
            template: extras?.userInfo == nil ? target.template : WebAddress.withoutUserInfo(target.template),
            fragment: extras?.fragment, body: body, options: options, reading: reading(options),
            audience: audience, loop: loop)
    }

    private func reading(_ options: Options) -> Reading {
        Reading(
            limit: options.bodyBytes.bytes(of: configuration.limits.bodyBytes), decodes: options.decodesContent,
            kept: errorBodyBytes(options))
    }

    /// How much of a response's body an error carries.
    @usableFromInline func errorBodyBytes(_ options: Options) -> Int {
        options.rare?.values.errorBodyBytes ?? configuration.limits.errorBodyBytes
    }

    /// Whether others than its caller want to know of a request: hooks, listeners to events, a queue.
    @usableFromInline func isWatched(_ options: Options) -> Bool {
        hub.isHeeded || options.rare?.isWatched == true
    }

    private func audience(_ options: Options, on loop: Reactor) -> Audience {
        Audience([configuration.hooks, options.hooks], hub, tasks, TransferWatch(on: loop, priority: options.priority))
    }

    /// The request to send, beginning now.
    func request(_ call: Call, _ body: RequestBody, since start: MonotonicTime) throws -> TransportRequest {
        let timeouts = call.options.timeouts ?? configuration.timeouts
        return TransportRequest(
            head: call.head, body: body, timeouts: timeouts, deadline: try Self.deadline(timeouts, from: start),
            priority: call.audience?.watch.standing.priority ?? call.options.priority,
            continueTimeout: call.options.continueTimeout)
    }
}
