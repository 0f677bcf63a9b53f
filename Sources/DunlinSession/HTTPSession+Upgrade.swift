internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

extension HTTPSession {
    /// Asks a server to speak another protocol on the connection, and returns the connection once the server does.
    ///
    /// ```swift
    /// let connection = try await client.upgrade("console", to: "echo")
    /// try await connection.write("hello")
    /// let reply = try await connection.read()
    /// connection.close()
    /// ```
    ///
    /// The request is GET unless another method is given. Redirects are not followed, and the cache is not asked.
    /// `silence` limits how long a read or a write on the connection may wait for the peer; there is no such limit by
    /// default. All limits of the request, also `timeout`, end with the server's 101 (Switching Protocols).
    ///
    /// A server that answers with HTTP instead is an error with code `upgradeRefused`, whatever the status: its
    /// `response` is the head, and its `body` the beginning of the body, up to the limit for errors. So the result is
    /// always a connection, and refusals are handled where those of other requests are. A 101 that does not answer what
    /// was asked has code `invalidResponse`.
    ///
    /// A proxy need not pass on an upgrade, so it is asked for a tunnel (CONNECT), also for `http`.
    public func upgrade(
        _ target: HTTP.Target, to protocol: String, method: HTTP.Method = .get, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody = .none, silence: Duration? = nil, timeout: Duration? = nil,
        options: Options = Options()
    ) async throws -> UpgradedConnection {
        try await upgrade(
            target, to: [`protocol`], method: method, query: query, fields: fields, body: body, silence: silence,
            timeout: timeout, options: options)
    }

    /// The same, with a choice of protocols, the preferred one first; `protocol` of the connection says which one the
    /// server chose. Each is a name, or a name and a version, such as `foo/2`.
    public func upgrade(
        _ target: HTTP.Target, to protocols: [String], method: HTTP.Method = .get, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody = .none, silence: Duration? = nil, timeout: Duration? = nil,
        options: Options = Options()
    ) async throws -> UpgradedConnection {
        let call = try upgradeCall(
            target, protocols, method, query: query, body: body, silence: silence,
            options: options.with(fields, timeout))
        return try await upgrade(call, to: protocols, by: TaskDelegate(call))
    }

    /// Makes the call of an upgrade. `reconnection` is waited for first.
    func upgrade(
        _ call: Call, to protocols: [String], by delegate: TaskDelegate, after reconnection: Reconnection? = nil
    ) async throws -> UpgradedConnection {
        let sink = StreamSink(isScope: false, after: reconnection, on: delegate.loop)
        // The registry waits for this task when the session is shut down; it ends with its connection.
        Task(executorPreference: delegate.loop) { await delegate.run(call, into: sink) }
        return try await withTaskCancellationHandler {
            let response = try await sink.response
            guard response.status == .switchingProtocols else {
                throw try await Self.refusal(of: response.owned { sink.close($0) }, protocols)
            }
            var custom: CustomConnection?
            if call.era.chain.callTransport.sockets == nil {
                let silence = call.options.upgrade?.silence
                custom = CustomConnection(silence: silence, call.observers?.control, on: delegate.loop) {
                    sink.close($0)
                }
            }
            return try UpgradedConnection(
                response, to: protocols, over: custom, of: delegate.id, on: delegate.loop
            ) { sink.close($0) }
        } onCancel: {
            delegate.cancel(.task)
        }
    }

    /// The call of an upgrade. Redirects are followed only if `followsRedirects`.
    func upgradeCall(
        _ target: HTTP.Target, _ protocols: [String], _ method: HTTP.Method, query: HTTP.Query, body: RequestBody,
        silence: Duration?, followsRedirects: Bool = false, options: Options
    ) throws -> Call {
        var options = options
        do throws(UpgradeError) {
            let offer = try UpgradeOffer(protocols)
            for name in ["Connection", "Upgrade"] where options.fields.contains(name) { throw .ownField(name) }
            options.fields.append(name: "Connection", value: UpgradeOffer.connectionOption)
            options.fields.append(name: "Upgrade", value: offer.fieldValue)
        } catch {
            throw NetworkError(.invalidRequest, "the upgrade cannot be asked for: \(error)", underlying: error)
                .named(method, target, hiding: core.configuration.secretFields)
        }
        // A coded body would be of no use to whoever gets the beginning of it with an error.
        options.decodesContent = false
        // Only a request that does nothing by itself may be sent twice without anybody noticing.
        let isPlain = method == .get && body.isNone
        options.changeRare { values in
            values.upgrade = values.upgrade ?? UpgradeOptions()
            values.upgrade?.silence = silence
            if !followsRedirects { values.redirects = .none }
            values.cacheMode = .none
            if !isPlain { values.retry = .none }
        }
        // A connection lives long, so whoever finds it in the registry can suspend it.
        return try core.call(
            method, target, query: query, body: body, options: options, kind: .upgrade, isObserved: true)
    }

    /// The error for a server that answered with HTTP, with the beginning of its body.
    private static func refusal(of response: StreamedResponse, _ protocols: [String]) async throws -> NetworkError {
        var kept: [UInt8] = []
        do {
            for try await piece in response.body {
                piece[..<min(piece.count, response.keptBody - kept.count)].withUnsafeBytes {
                    kept.append(contentsOf: $0)
                }
                if kept.count >= response.keptBody { break }
            }
        } catch let error as NetworkError where error.code != .cancelled {
            // An answer that breaks off, or takes too long, is a refusal all the same.
        }
        let offered = protocols.joined(separator: " or ")
        var error = NetworkError(
            .upgradeRefused, "the server answered \(response.status) instead of switching to \(offered)",
            phase: .receive, requestMayHaveBeenSent: true, response: response.head, body: Bytes(kept))
        error.hop = response.metrics.hops.last
        error.retries = response.retries
        return response.body.named(error)
    }
}
