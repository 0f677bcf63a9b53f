internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

extension HTTPSession {
    /// What was asked for, taken down when it was asked: what becomes of the session or the options afterwards does not
    /// matter to it. Never changed, and handed on by reference: it goes through many hands.
    final class Call: Sendable {
        let session: HTTPSession
        let kind: TaskKind
        let head: RequestHead
        /// The target as the caller wrote it, values left out.
        let template: String
        /// Of the URL.
        let fragment: String?
        let body: RequestBody
        let options: Options
        let reading: Reading
        /// Who else wants to know of it.
        let audience: Audience?
        /// Where it is listed, and on whose loop it runs.
        let book: TaskBook
        /// Of the session, when it was asked.
        let era: TaskRegistry.Era

        init(
            _ session: HTTPSession, kind: TaskKind, head: RequestHead, template: String, fragment: String? = nil,
            body: RequestBody, options: Options, reading: Reading, audience: Audience? = nil, book: TaskBook
        ) throws {
            era = try session.tasks.era
            self.session = session
            (self.kind, self.head, self.template, self.fragment) = (kind, head, template, fragment)
            (self.body, self.options, self.reading) = (body, options, reading)
            (self.audience, self.book) = (audience, book)
        }
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
    /// Throws for what cannot be sent, and once the session is shut down.
    func call(
        _ method: Method, _ target: Target, query: Query = Query(), body: RequestBody = .none, options: Options,
        accept: String? = nil, kind: TaskKind? = nil, isWatched: Bool
    ) throws -> Call {
        var extras: RequestBuilder.Extras?
        var head = try builder.head(
            method, target, query, body, options.fields, accept, expectsContinue: options.expectsContinue, &extras)
        if !options.decodesContent { builder.leaveOutCodings(&head, options.fields) }
        if let rare = options.rare { try rare.complete(&head, options.fields) }
        let book = book
        return try Call(
            self, kind: kind ?? .of(body), head: head,
            template: extras?.userInfo == nil ? target.template : WebAddress.withoutUserInfo(target.template),
            fragment: extras?.fragment, body: body, options: options, reading: reading(options),
            audience: isWatched ? audience(options, on: book.loop) : nil, book: book)
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
        Audience([configuration.hooks, options.hooks], hub, TransferWatch(on: loop, priority: options.priority))
    }
}

extension HTTPSession.Call {
    var loop: Reactor { book.loop }

    /// The request to send, beginning now.
    func request(_ body: RequestBody, since start: MonotonicTime) throws -> TransportRequest {
        let timeouts = options.timeouts ?? session.configuration.timeouts
        return TransportRequest(
            head: head, body: body, timeouts: timeouts, deadline: try HTTPSession.deadline(timeouts, from: start),
            priority: audience?.watch.standing.priority ?? options.priority, continueTimeout: options.continueTimeout)
    }
}
