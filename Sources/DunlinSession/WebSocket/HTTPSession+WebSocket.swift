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
        let opened = try await opened(target, subprotocols, query, options.with(fields, timeout), settings)
        let driver = opened.driver
        async let life: Void = driver.run()
        let value: Value
        do {
            let socket = WebSocket(opened, core.contentSettings, nil)
            value = try await Enclosure.enter(.request(driver.request), of: core.owner) { try await operation(socket) }
            if socket.isOpen { try await socket.close() }
        } catch {
            await driver.abort()
            await life
            throw error
        }
        await life
        return value
    }

    /// Opens a WebSocket, which is closed when its last reference is released, if not before.
    ///
    /// The target is a `ws` or `wss` URL, or one relative to the session's base. The handshake is a request as any
    /// other, with all that the session has for requests; `timeout` limits it, and nothing after it. `Origin` is sent
    /// only if `fields` has it. A server that answers with HTTP is the error `upgradeRefused`; redirects are not
    /// followed.
    public func webSocket(
        _ target: HTTP.Target, subprotocols: [String] = [], query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), settings: WebSocketSettings = WebSocketSettings(), timeout: Duration? = nil,
        options: Options = Options()
    ) async throws -> WebSocket {
        let opened = try await opened(target, subprotocols, query, options.with(fields, timeout), settings)
        let driver = opened.driver
        // It ends with its connection, which ends with the request that the registry knows.
        let life = Task(executorPreference: driver.loop) { await driver.run() }
        return WebSocket(opened, core.contentSettings, life)
    }

    /// The schemes by which the handshake of a WebSocket goes.
    static let webSocketSchemes = ["ws": "http", "wss": "https"]

    private func opened(
        _ target: HTTP.Target, _ subprotocols: [String], _ query: HTTP.Query, _ options: Options,
        _ settings: WebSocketSettings
    ) async throws -> OpenedWebSocket {
        let target = target.replacing(schemes: Self.webSocketSchemes)
        let offered: OfferedWebSocket
        var options = options
        do {
            try settings.validate()
            offered = try OfferedWebSocket(subprotocols, settings.offer)
        } catch {
            let known = error as? NetworkError
            // A subprotocol may be a token, so none is shown.
            throw
                (known
                ?? NetworkError(.invalidRequest, "the WebSocket cannot be asked for: \(error)", underlying: error))
                .named(.get, target, hiding: core.configuration.secretFields)
        }
        options.fields = options.fields.overlaid(with: offered.latest.fields)
        var upgradeOptions = UpgradeOptions()
        upgradeOptions.sendingFields = SendingFields { offered.renewed() }
        options.upgrade = upgradeOptions
        let connection = try await upgrade(target, to: "websocket", query: query, options: options)
        do {
            let handshake = offered.latest
            let hash = try HashFunction.sha1.hash(of: handshake.hashedText)
            let agreement = try handshake.agreement(with: connection.head, hash: hash)
            let driver = try WebSocketDriver(connection, settings, agreement.deflate)
            // A session that is being shut down has told its open sockets before.
            if !core.residents.add(driver) || isShutDown { await driver.sessionEnds() }
            return OpenedWebSocket(driver: driver, agreement: agreement)
        } catch {
            connection.close()
            throw connection.named(
                NetworkError(
                    .invalidResponse, "\(error)", phase: .receive, requestMayHaveBeenSent: true, underlying: error,
                    response: connection.head))
        }
    }
}
