internal import DunlinReactor
internal import DunlinTransport

extension HTTPSession {
    /// The numbers of connections, and of requests that wait for one; zeros with a custom transport.
    public var connections: HTTP.ConnectionGauges {
        tasks.chain.callTransport.sockets?.gauges ?? HTTP.ConnectionGauges()
    }

    /// Opens connections ahead of need, until `count` are open to the origin of `target`, in use or idle. Returns how
    /// many are open; zero with a custom transport.
    ///
    /// It observes the configuration's limits: it opens fewer if there is no room, closes no other connection, and
    /// overtakes no request. The connections go to waiting requests, or stay idle like any other. While being opened,
    /// they appear in `tasks`, and `shutdown` cancels and counts them like requests. Only options about where, how and
    /// how long to connect apply. Throws the first failure when all attempts have ended; opened connections stay open.
    @discardableResult
    public func prewarm(
        _ count: Int, to target: HTTP.Target = "", options: Options = Options()
    ) async throws -> Int {
        guard !tasks.isClosed else { throw TaskRegistry.closed }
        let head = try openingHead(target, options)
        guard let sockets = tasks.chain.callTransport.sockets else { return 0 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number
                in 0..<max(
                    0, min(count, core.configuration.connections.perOrigin, core.configuration.connections.total))
            {
                let call = try Call(
                    core, kind: .preconnect, head: head, template: target.template,
                    hasTemplate: target.hasTemplate, body: .none, options: options,
                    reading: Reading(
                        decodes: false, errors: ErrorRules(keptBody: 0, showsBody: false, curl: core.curl)),
                    list: tasks.lists[number % tasks.lists.count])
                group.addTask {
                    _ = try await TaskDelegate(call).run(call, into: OpeningSink(count: count))
                }
            }
            try await group.waitForAll()
        }
        return try sockets.openCount(
            for: TransportRequest(head: head),
            options.rare?.values.connectionRules(instead: core.builder.connectionRules),
            on: core.loops[0])
    }

    /// Forgets the addresses of all names, so that each is looked up again when needed. Open connections stay.
    public func removeCachedAddresses() {
        tasks.chain.callTransport.sockets?.removeCachedAddresses()
    }

    private func openingHead(_ target: HTTP.Target, _ options: Options) throws -> RequestHead {
        var head = try core.builder.head(.connect, target)
        if let rare = options.rare { head.origin = try rare.routed(head.origin) }
        return head
    }
}

/// Opens a connection without sending a request.
private struct OpeningSink: Sink {
    typealias Taken = Bytes
    typealias Apart = ErasedSink
    typealias Value = Void

    /// The number of connections that should be open.
    let count: Int

    var isScope: Bool { true }

    func take(from sending: inout Sending) async throws -> HTTPSession.Response<Bytes> {
        guard let sockets = sending.callTransport.sockets else {
            throw NetworkError(.cancelled, "opening the connections was cancelled")
        }
        try sending.begin(nil)
        do {
            try await sockets.openAhead(
                of: sending.request, upTo: count, sending.delegate.settings?.exchangeOptions?.connectionRules,
                cancellation: sending.delegate.cancellation, on: sending.loop)
        } catch {
            throw NetworkError.explained(error, at: sending.request.head.origin)
        }
        return HTTPSession.Response(head: ResponseHead(status: .ok), value: .empty)
    }
}
