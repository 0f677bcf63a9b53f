internal import DunlinSemantics
internal import DunlinTypes
internal import DunlinWire

/// Makes a tunnel to the origin through an HTTP proxy, by the rules of `ConnectMachine`.
///
/// Of the request that will go through the tunnel, only host and port are sent, with the fields configured for this
/// proxy.
struct ConnectStage: ConnectionStage {
    private let request: RequestHead
    private let login: ProxyLogin
    private var machine: ConnectMachine
    /// What the last CONNECT carried.
    private var sent: ProxyLogin.Sent?

    /// How much of a 407's body is read so that the next CONNECT may follow on the same socket, and how much of a
    /// refusal's body is read for its error.
    private static let (readChallenge, readRefusal) = (64 << 10, 4 << 10)

    init(to origin: HTTP.Origin, _ login: ProxyLogin) throws {
        request = ProxiedRequest.connect(to: origin, fields: login.proxy.connectFields)
        self.login = login
        machine = ConnectMachine(isTLSInside: origin.scheme == .https)
        sent = try login.unasked(HashedRequest(request, .none))
    }

    mutating func pass(_ socket: inout StageSocket) async throws -> StageOutcome {
        var hasAnswered = false
        while true {
            let encoded = try encoded(socket)
            if hasAnswered {
                // A proxy may close the connection without announcing it; then another connection is tried.
                guard try await isOpen(&socket, sending: encoded) else { return .dialAgain }
            } else {
                try await socket.write(encoded)
            }
            var parser = HeadParser(limits: socket.context.terms.limits)
            var action = ConnectMachine.Action.readOn
            var head: ResponseHead?
            while action == .readOn {
                let parsed = try await next(of: &parser, socket: &socket)
                head = parsed.head
                // Interim heads may be followed by the next head; only what follows the last one is not a head.
                action = machine.receive(parsed, following: parsed.isInterim ? 0 : parser.following)
            }
            let rest = parser.takeRest()
            switch action {
            case .readOn: continue
            case .tunnel:
                socket.unread(rest)
                return .passed
            case .answer(let framing):
                switch login.challenged(head, to: HashedRequest(request, .none), after: sent) {
                case .send(let next): sent = next
                case .fail(let reason):
                    throw try await refusal(.proxyAuthenticationFailed, reason, head, rest, framing, &socket)
                }
                guard framing.canReuse else { return .dialAgain }
                let isWhole = try await socket.body(rest, framing.body, upTo: Self.readChallenge).isWhole
                if !isWhole { return .dialAgain }
                hasAnswered = true
            case .refuse(let status, let framing):
                let code =
                    status == .proxyAuthenticationRequired
                    ? NetworkError.Code.proxyAuthenticationFailed : .proxyFailed
                let reason = "the proxy answered CONNECT with \(status) \(status.phrase)"
                throw try await refusal(code, reason, head, rest, framing, &socket)
            case .fail(let error): throw socket.failure(.proxyFailed, "\(error)", cause: error)
            }
        }
    }

    /// Sends another CONNECT. Returns whether the proxy answers anything.
    private func isOpen(_ socket: inout StageSocket, sending bytes: Bytes) async throws -> Bool {
        do {
            try await socket.write(bytes)
            let first = try await socket.read(upTo: 4096)
            socket.unread(Bytes(first))
            return !first.isEmpty
        } catch let error as NetworkError where error.code == .proxyFailed {
            return false
        }
    }

    private func encoded(_ socket: StageSocket) throws -> Bytes {
        var bytes: [UInt8] = []
        do throws(WireError) {
            var head = request
            if let sent {
                head = ProxiedRequest.connect(
                    to: head.origin, authorization: sent.value, fields: login.proxy.connectFields)
            }
            try RequestEncoder.encode(head, framing: .none, into: &bytes)
        } catch {
            throw socket.failure(.invalidRequest, "no CONNECT request can be made for \(request.origin)", cause: error)
        }
        return Bytes(bytes)
    }

    private func next(of parser: inout HeadParser, socket: inout StageSocket) async throws -> ParsedHead {
        do {
            while true {
                if let parsed = try parser.next() { return parsed }
                let bytes = try await socket.read(upTo: 4096)
                if bytes.isEmpty { try parser.endOfStream() }
                parser.feed(bytes)
            }
        } catch let error as WireError {
            let reason =
                error.isTruncation
                ? "the proxy closed the connection before it answered"
                : "the proxy's answer to CONNECT is not valid HTTP"
            throw socket.failure(.proxyFailed, reason, cause: error)
        }
    }

    /// The error for a proxy that refused, with the beginning of its response.
    private func refusal(
        _ code: NetworkError.Code, _ reason: String, _ head: ResponseHead?, _ rest: Bytes, _ framing: MessageFraming,
        _ socket: inout StageSocket
    ) async throws -> NetworkError {
        var body: [UInt8] = []
        do {
            body = try await socket.body(rest, framing.body, upTo: Self.readRefusal).bytes
        } catch let error as CancellationError {
            throw error
        } catch let error as NetworkError where error.code == .cancelled {
            throw error
        } catch {
            // The refusal is more useful than what failed after its head.
        }
        return socket.failure(code, reason, response: head, body: Bytes(body))
    }
}
