internal import DunlinReactor
internal import DunlinSecure
internal import DunlinTransport
internal import DunlinWire

extension HTTPSession {
    /// Opens a WebSocket and passes it to `operation`. When that returns, the connection is closed with the code
    /// `normal`; when it throws, at once. What `operation` asks for does not wait in the session's queue, as the socket
    /// may have the last turn.
    ///
    /// ```swift
    /// try await client.withWebSocket("wss://api.test/chat") { socket in
    ///     try await socket.send("hello")
    ///     for try await message in socket.messages { show(message) }
    /// }
    /// ```
    public func withWebSocket<Value>(
        _ target: HTTP.Target, subprotocols: [String] = [], query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), settings: WebSocketSettings = WebSocketSettings(), timeout: Duration? = nil,
        options: Options = Options(), _ operation: (WebSocket) async throws -> Value
    ) async throws -> Value {
        let request = WebSocketRequest(target, subprotocols, query, options.with(fields, timeout), settings)
        return try await use(opened(request), operation)
    }

    /// Opens a WebSocket and passes it to `operation`, and does both again when the connection is lost: see
    /// <doc:WebSocket>. `socket.reconnection` says so; it is nil the first time.
    ///
    /// ```swift
    /// try await client.withWebSocket("notes", reconnecting: .exponential(attempts: 10)) { socket in
    ///     try await socket.send(json: Subscription(after: last))
    ///     for try await note in socket.messages(of: Note.self) { last = note.id }
    /// }
    /// ```
    ///
    /// A connection is lost if it breaks, if the server falls silent, and if the server closes it with a code of
    /// `settings.passingCodes`. It is over when `operation` returns for any other reason, or throws an error of its
    /// own. `policy` says how often in a row, and after which waits, a connection that could not be opened or was lost
    /// is followed by another. One that was open for as long as the policy's longest wait begins a new row. `timeout`
    /// limits each handshake.
    public func withWebSocket<Value>(
        _ target: HTTP.Target, subprotocols: [String] = [], query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), settings: WebSocketSettings = WebSocketSettings(),
        reconnecting policy: RetryPolicy, timeout: Duration? = nil, options: Options = Options(),
        _ operation: (WebSocket) async throws -> Value
    ) async throws -> Value {
        var request = WebSocketRequest(target, subprotocols, query, options.with(fields, timeout), settings)
        request.options.retry = .none
        let attempts = Reconnections("the WebSocket", of: self, policy, tags: request.options.tags, within: nil) { _ in
            ReconnectionMachine(EventSettings(), policy)
        }
        defer { attempts.end() }
        while true {
            try await attempts.check()
            if attempts.hasOthersJar { request.options.handlesCookies = .value(false) }
            let offer = try request.offer(core)
            let opened = try await attempts.attempt {
                try upgradeCall(request, offer, after: attempts.next?.wait ?? .zero)
            } _: { call, delegate, reconnection in
                try await self.opened(request, offer, call, by: delegate, after: reconnection)
            }
            guard let opened else { continue }
            let start = opened.driver.loop.now()
            let loss: NetworkError
            do {
                let value = try await use(opened, operation)
                guard let reason = await opened.driver.loss, await opened.driver.hasToldEnd else { return value }
                loss = reason
            } catch let error as NetworkError {
                guard let reason = await opened.driver.loss, error.request == reason.request else { throw error }
                loss = error
            }
            try await attempts.check()
            let time = opened.driver.loop.now().nanoseconds - start.nanoseconds
            _ = try attempts.failed(loss, ReconnectionMachine.Notes(time: time))
            attempts.next?.unconfirmed = await opened.driver.unconfirmed
        }
    }

    /// Opens a WebSocket, which is closed when its last reference is released, if not before.
    ///
    /// The target is a `ws` or `wss` URL, or one relative to the session's base. The handshake is a request as any
    /// other, with all that the session has for requests; `timeout` limits it, and nothing after it. `Origin` is sent
    /// only if `fields` has it. Redirects are followed by the session's policy. A server that answers with anything
    /// else is the error `upgradeRefused`.
    public func webSocket(
        _ target: HTTP.Target, subprotocols: [String] = [], query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), settings: WebSocketSettings = WebSocketSettings(), timeout: Duration? = nil,
        options: Options = Options()
    ) async throws -> WebSocket {
        let opened = try await opened(
            WebSocketRequest(target, subprotocols, query, options.with(fields, timeout), settings))
        let driver = opened.driver
        // It ends with its connection, which ends with the request that the registry knows.
        let life = Task(executorPreference: driver.loop) { await driver.run() }
        return WebSocket(opened, core.contentSettings, life)
    }

    private func use<Value>(
        _ opened: OpenedWebSocket, _ operation: (WebSocket) async throws -> Value
    ) async throws -> Value {
        let driver = opened.driver
        async let life: Void = driver.run()
        let value: Value
        do {
            let socket = WebSocket(opened, core.contentSettings, nil)
            value = try await Enclosure.enter(request: driver.request, of: core) { try await operation(socket) }
            if socket.isOpen { try await socket.close() }
        } catch {
            await driver.abort()
            await life
            throw error
        }
        await life
        return value
    }
}

// MARK: - The handshake

extension HTTPSession {
    private func opened(_ request: WebSocketRequest) async throws -> OpenedWebSocket {
        let offer = try request.offer(core)
        let call = try upgradeCall(request, offer)
        return try await opened(request, offer, call, by: TaskDelegate(call))
    }

    /// The call of a handshake, whose total begins after a wait.
    private func upgradeCall(
        _ request: WebSocketRequest, _ offer: OfferedWebSocket, after wait: Duration = .zero
    ) throws -> Call {
        var options = request.options
        options.fields = options.fields.overlaid(with: offer.latest.fields)
        options.upgrade = UpgradeOptions()
        options.upgrade?.sendingFields = SendingFields { offer.renewed() }
        let usual = core.configuration.timeouts
        if wait > .zero, let total = (options.timeLimits?.timeouts.over(usual) ?? usual).total {
            options.timeouts.total = .value(total + wait)
        }
        return try upgradeCall(
            request.target, ["websocket"], .get, query: request.query, body: .none, silence: nil,
            followsRedirects: true, options: options)
    }

    private func opened(
        _ request: WebSocketRequest, _ offer: OfferedWebSocket, _ call: Call, by delegate: TaskDelegate,
        after reconnection: Reconnection? = nil
    ) async throws -> OpenedWebSocket {
        let connection = try await upgrade(call, to: ["websocket"], by: delegate, after: reconnection)
        do {
            let handshake = offer.latest
            let hash = try HashFunction.sha1.hash(of: handshake.hashedText)
            let agreement = try handshake.agreement(with: connection.head, hash: hash)
            let driver = try WebSocketDriver(connection, request.settings, agreement.deflate)
            // A session that is being shut down has told its open sockets before.
            if !core.residents.add(driver) || isShutDown { await driver.sessionEnds() }
            return OpenedWebSocket(driver: driver, agreement: agreement, reconnection: reconnection)
        } catch {
            connection.close()
            throw connection.named(
                NetworkError(
                    .invalidResponse, "\(error)", phase: .receive, requestMayHaveBeenSent: true, underlying: error,
                    response: connection.head))
        }
    }
}

/// What a WebSocket is asked for with, each time.
private struct WebSocketRequest {
    let target: HTTP.Target
    let subprotocols: [String]
    let query: HTTP.Query
    var options: HTTPSession.Options
    let settings: HTTPSession.WebSocketSettings

    init(
        _ target: HTTP.Target, _ subprotocols: [String], _ query: HTTP.Query, _ options: HTTPSession.Options,
        _ settings: HTTPSession.WebSocketSettings
    ) {
        (self.target, self.subprotocols, self.query) = (target.overHTTP, subprotocols, query)
        (self.options, self.settings) = (options, settings)
    }

    func offer(_ core: SessionCore) throws -> OfferedWebSocket {
        do {
            try settings.validate()
            return try OfferedWebSocket(subprotocols, settings.offer)
        } catch {
            let known = error as? NetworkError
            // A subprotocol may be a token, so none is shown.
            throw
                (known
                ?? NetworkError(.invalidRequest, "the WebSocket cannot be asked for: \(error)", underlying: error))
                .named(.get, target, hiding: core.configuration.secretFields)
        }
    }
}
