internal import DunlinReactor
internal import DunlinTransport

extension HTTPSession {
    /// How many connections there are and how many requests wait for one; zeros over a custom transport.
    public var connections: HTTP.ConnectionGauges {
        tasks.chain.callTransport.sockets?.gauges ?? HTTP.ConnectionGauges()
    }

    /// Opens connections ahead of need, until `count` are open to the origin of `target`, in use or idle. Returns how
    /// many are open. Zero over a custom transport.
    ///
    /// The limits of the configuration hold: it opens fewer when there is no room; it closes no connection for it and
    /// overtakes no request. The connections go to requests that wait, or stay idle for as long as any other. While
    /// they are being opened, connections show in `tasks` and are cancelled and counted by `shutdown` like requests.
    /// Only those options count that say where, how and for how long to connect. Throws the first failure, once no
    /// opening runs any more; connections that were opened stay.
    @discardableResult
    public func prewarm(
        _ count: Int, to target: HTTP.Target = "", options: Options = Options()
    ) async throws -> Int {
        guard !tasks.isClosed else { throw NetworkError(.sessionClosed, "the session is shut down") }
        let head = try openingHead(target, options)
        guard let sockets = tasks.chain.callTransport.sockets else { return 0 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number
                in 0..<max(
                    0, min(count, core.configuration.connections.perOrigin, core.configuration.connections.total))
            {
                let call = try Call(
                    core, kind: .preconnect, head: head, template: target.template, body: .none, options: options,
                    reading: Reading(
                        decodes: false, errors: ErrorRules(keptBody: 0, showsBody: false, curl: core.curl)),
                    book: tasks.books[number % tasks.books.count])
                group.addTask {
                    _ = try await TaskDelegate(call).run(call, into: OpeningSink(count: count))
                }
            }
            try await group.waitForAll()
        }
        return try sockets.openCount(
            for: TransportRequest(head: head),
            options.rare?.values.way.connectionRules(instead: core.builder.connectionRules),
            on: core.loops[0])
    }

    /// Forgets the addresses of all names: each name is looked up again when it is needed. Open connections stay.
    public func removeCachedAddresses() {
        tasks.chain.callTransport.sockets?.removeCachedAddresses()
    }

    private func openingHead(_ target: HTTP.Target, _ options: Options) throws -> RequestHead {
        var head = try core.builder.head(.connect, target, [:], .none, Fields(), nil)
        if let rare = options.rare { head.origin = try rare.routed(head.origin) }
        return head
    }
}

/// Opens a connection, and sends no request.
private struct OpeningSink: Sink {
    typealias Value = Void

    /// How many connections are to be open.
    let count: Int

    var isScope: Bool { true }

    func take(from delegate: isolated TaskDelegate) async throws -> HTTPSession.Response<Void> {
        let call = delegate[.main]
        guard let sockets = call.callTransport.sockets else {
            throw NetworkError(.cancelled, "opening the connections was cancelled")
        }
        _ = try delegate.begin(nil, part: nil)
        do {
            try await sockets.openAhead(
                of: call.request, upTo: count, call.delegate.settings?.exchangeOptions?.connectionRules,
                cancellation: call.delegate.cancellation, on: call.loop)
        } catch {
            throw NetworkError.explained(error, at: call.request.head.origin)
        }
        return HTTPSession.Response(head: ResponseHead(status: .ok), value: ())
    }
}
