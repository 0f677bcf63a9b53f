package import DunlinTypes

/// A client's part of SOCKS5 (RFC 1928), with a password (RFC 1929) or without, up to where the tunnel begins.
///
/// Rules:
/// 1. The methods are offered first: none, and the password if there is one. Then the password, if the proxy chose it;
///    then the request to connect.
/// 2. Nothing is sent ahead of an answer, so a byte behind an answer is one that nobody asked for. Only what comes
///    behind the last answer is the tunnel's.
/// 3. `read` says how many bytes the answer still has at least. Who reads no more than that reads nothing of the
///    tunnel; who reads more is told how many bytes belong to it.
/// 4. An answer that refuses is one as soon as it says so: some proxies send no more of it.
/// 5. The address that the proxy says it is bound to is read over. It means nothing to a client that connects.
///
/// After it has failed, or is ready, it says so again whatever comes. Knows no socket and no time. It must not know
/// what goes through the tunnel.
package struct SOCKSMachine: Sendable {
    package enum Destination: Sendable, Hashable {
        /// Resolved here.
        case address(HTTP.SocketAddress)
        /// For the proxy to resolve: a name, and no address in letters. A literal goes as an address.
        case name(String, port: UInt16)
    }

    package enum Action: Sendable, Equatable {
        /// Write all of these bytes, then read.
        case write([UInt8])
        /// Read; no more than so many bytes, if what follows is to stay unread.
        case read(upTo: Int)
        /// The tunnel is open. So many of the last bytes received are its first ones.
        case ready(following: Int)
        case fail(SOCKSError)
    }

    private enum State: Sendable {
        case new
        case waiting(SOCKSError.Step)
        case ready
        case failed(SOCKSError)
    }

    private let credentials: [UInt8]?
    private let request: [UInt8]
    private var state = State.new
    /// What has come of the present answer: never more than the longest one, of 262 bytes.
    private var answer: [UInt8] = []

    /// Throws for what SOCKS cannot say.
    package init(
        to destination: Destination, user: String? = nil, password: String? = nil
    ) throws(SOCKSError) {
        request = try Self.request(to: destination)
        credentials = user == nil && password == nil ? nil : try Self.credentials(user ?? "", password ?? "")
    }

    /// Begins. What it says is to be written.
    package mutating func begin() -> Action {
        guard case .new = state else { return outcome }
        state = .waiting(.method)
        let methods = credentials == nil ? [Method.none] : [Method.none, Method.password]
        return .write([Self.version, UInt8(methods.count)] + methods)
    }

    /// Bytes came from the proxy, cut anywhere.
    package mutating func receive(_ bytes: some Collection<UInt8>) -> Action {
        if case .new = state { return bytes.isEmpty ? .read(upTo: 0) : fail(.unaskedBytes) }
        var rest = bytes[...]
        while case .waiting(let step) = state {
            do throws(SOCKSError) {
                guard let count = try missing(of: step) else { return try finish(step, following: rest.count) }
                if rest.isEmpty { return .read(upTo: count) }
                answer.append(contentsOf: rest.prefix(count))
                rest = rest.dropFirst(count)
            } catch {
                return fail(error)
            }
        }
        if case .ready = state { return .ready(following: rest.count) }
        return outcome
    }

    /// The stream has ended. Nil if the tunnel is open: then the end is the tunnel's.
    package mutating func end() -> SOCKSError? {
        switch state {
        case .waiting(let step): state = .failed(.closed(step))
        case .new: state = .failed(.closed(.method))
        case .ready, .failed: break
        }
        if case .failed(let error) = state { return error }
        return nil
    }

    private var outcome: Action {
        switch state {
        case .new, .waiting: .read(upTo: 0)
        case .ready: .ready(following: 0)
        case .failed(let error): .fail(error)
        }
    }

    private mutating func fail(_ error: SOCKSError) -> Action {
        state = .failed(error)
        answer = []
        return .fail(error)
    }

    /// The answer is complete, and `following` bytes stand behind it.
    private mutating func finish(_ step: SOCKSError.Step, following: Int) throws(SOCKSError) -> Action {
        let next = step == .method && answer[1] == Method.password ? SOCKSError.Step.password : .reply
        answer = []
        if step == .reply {
            state = .ready
            return .ready(following: following)
        }
        guard following == 0 else { throw .unaskedBytes }
        state = .waiting(next)
        if next == .password, let credentials { return .write(credentials) }
        return .write(request)
    }
}

// MARK: - Answers

extension SOCKSMachine {
    /// How many bytes the present answer still has at least; nil if it is complete. Judges each byte as it comes.
    private func missing(of step: SOCKSError.Step) throws(SOCKSError) -> Int? {
        let version = step == .password ? Self.passwordVersion : Self.version
        if let first = answer.first, first != version { throw .wrongVersion(first, step) }
        guard answer.count >= 2 else { return 2 - answer.count + (step == .reply ? 3 : 0) }
        switch step {
        case .method: try checkMethod(answer[1])
        case .password: if answer[1] != 0 { throw .credentialsRefused }
        case .reply:
            let length = try replyLength()
            return length == answer.count ? nil : length - answer.count
        }
        return nil
    }

    private func checkMethod(_ method: UInt8) throws(SOCKSError) {
        switch method {
        case Method.none: break
        case Method.password where credentials != nil: break
        case Method.noneAcceptable: throw .noMethod(hadCredentials: credentials != nil)
        default: throw .methodNotOffered(method)
        }
    }

    /// How long the reply is, as far as it is known: each type of address has five bytes and more.
    private func replyLength() throws(SOCKSError) -> Int {
        if let refusal = SOCKSError.Refusal(code: answer[1]) { throw .refused(refusal) }
        guard answer.count >= 3 else { return 5 }
        if answer[2] != 0 { throw .reservedByte(answer[2]) }
        guard answer.count >= 4 else { return 5 }
        // Version, code, reserved byte, type; the address; the port.
        switch answer[3] {
        case AddressType.v4: return 4 + 4 + 2
        case AddressType.v6: return 4 + 16 + 2
        case AddressType.name: return answer.count < 5 ? 5 : 4 + 1 + Int(answer[4]) + 2
        default: throw .unknownAddressType(answer[3])
        }
    }
}

// MARK: - Requests

extension SOCKSMachine {
    private enum Method {
        static let none: UInt8 = 0x00
        static let password: UInt8 = 0x02
        static let noneAcceptable: UInt8 = 0xFF
    }

    private enum AddressType {
        static let v4: UInt8 = 0x01
        static let name: UInt8 = 0x03
        static let v6: UInt8 = 0x04
    }

    private static let version: UInt8 = 0x05
    private static let passwordVersion: UInt8 = 0x01
    private static let connect: UInt8 = 0x01

    private static func request(to destination: Destination) throws(SOCKSError) -> [UInt8] {
        let head = [version, connect, 0x00]
        switch destination {
        case .address(.v4(let bits, let port)): return head + [AddressType.v4] + bytes(of: bits) + bytes(of: port)
        case .address(.v6(let high, let low, let port, scope: 0)):
            return head + [AddressType.v6] + bytes(of: high) + bytes(of: low) + bytes(of: port)
        case .address: throw .unfitAddress
        case .name(let name, let port):
            let text = Array(name.utf8)
            guard text.count <= 255 else { throw .nameTooLong }
            // A proxy in C would end the name at a NUL, and another rule than that for the whole would apply.
            guard !text.isEmpty, text.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .unfitName }
            return head + [AddressType.name, UInt8(text.count)] + text + bytes(of: port)
        }
    }

    private static func credentials(_ user: String, _ password: String) throws(SOCKSError) -> [UInt8] {
        let lengths = 1...255
        guard lengths.contains(user.utf8.count), lengths.contains(password.utf8.count) else {
            throw .unfitCredentials
        }
        return [passwordVersion, UInt8(user.utf8.count)] + Array(user.utf8) + [UInt8(password.utf8.count)]
            + Array(password.utf8)
    }

    /// In network order.
    private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}

// MARK: - Descriptions

extension SOCKSMachine: CustomStringConvertible, CustomReflectable {
    /// Shows nothing secret.
    package var description: String { "SOCKS5" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension SOCKSMachine.Action: CustomStringConvertible, CustomReflectable {
    /// Bytes to write may be a password: they are counted, not shown.
    package var description: String {
        switch self {
        case .write(let bytes): "write \(bytes.count) bytes"
        case .read(let count): "read up to \(count) bytes"
        case .ready(let following): "ready, \(following) bytes of the tunnel"
        case .fail(let error): "fail: \(error)"
        }
    }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
