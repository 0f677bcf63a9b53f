internal import DunlinSemantics
internal import DunlinTypes
internal import DunlinWire

/// Makes a SOCKS proxy connect to the origin, by the rules of `SOCKSMachine`.
///
/// If names are resolved here, each address is tried on its own socket, as long as the proxy says that it cannot reach
/// one.
struct SOCKSStage: ConnectionStage {
    private let proxy: ProxyAddress
    /// The remaining destinations; the first is next.
    private var destinations: [SOCKSMachine.Destination]

    init(_ proxy: ProxyAddress, to destinations: [SOCKSMachine.Destination]) {
        self.proxy = proxy
        self.destinations = destinations
    }

    mutating func pass(_ socket: inout StageSocket) async throws -> StageOutcome {
        guard let failure = try await Self.drive(machine(), &socket) else { return .passed }
        if failure.mayDoElsewhere, !destinations.isEmpty { return .dialAgain }
        throw socket.failure(failure.code, "\(failure)", cause: failure)
    }

    /// The machine for the next destination, or why there is none.
    private mutating func machine() -> Result<SOCKSMachine, SOCKSError> {
        let destination = destinations.removeFirst()
        return Result { () throws(SOCKSError) in
            try SOCKSMachine(to: destination, user: proxy.credentials?.user, password: proxy.credentials?.password)
        }
    }

    /// Drives a machine. Returns what went wrong with the proxy; throws what went wrong with the socket.
    private static func drive(
        _ begun: Result<SOCKSMachine, SOCKSError>, _ socket: inout StageSocket
    ) async throws -> SOCKSError? {
        var machine: SOCKSMachine
        switch begun {
        case .success(let made): machine = made
        case .failure(let error): return error
        }
        var action = machine.begin()
        while true {
            switch action {
            case .write(let bytes):
                try await socket.write(Bytes(bytes))
                action = machine.receive([])
            case .read(let count):
                let bytes = try await socket.read(upTo: count)
                if bytes.isEmpty { return machine.end() }
                action = machine.receive(bytes)
                if case .ready(let following) = action { socket.unread(Bytes(bytes.suffix(following))) }
            case .ready: return nil
            case .fail(let error): return error
            }
        }
    }
}

extension SOCKSError {
    fileprivate var code: NetworkError.Code {
        switch self {
        case .noMethod, .credentialsRefused, .unfitCredentials: .proxyAuthenticationFailed
        default: .proxyFailed
        }
    }

    /// Whether another address of the same name may work.
    fileprivate var mayDoElsewhere: Bool {
        switch self {
        case .refused(.hostUnreachable), .refused(.networkUnreachable), .refused(.connectionRefused),
            .refused(.addressTypeNotSupported), .refused(.timeToLiveExpired), .refused(.generalFailure),
            .refused(.notAllowed):
            true
        default: false
        }
    }
}
