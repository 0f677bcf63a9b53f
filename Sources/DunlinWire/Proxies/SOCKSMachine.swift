package import DunlinTypes

/// The client's side of SOCKS5 (RFC 1928), with or without a password (RFC 1929), up to the beginning of the tunnel.
///
/// Rules:
/// 1. The methods are offered first: none, and the password if there is one. Then the password, if the proxy chose it;
///    then the request to connect.
/// 2. Nothing is sent before an answer has come, so bytes after an answer are unrequested. Only bytes after the last
///    answer are the tunnel's.
/// 3. `read` gives the least number of bytes left of the answer. A caller that reads no more reads nothing of the
///    tunnel; one that reads more is told how many bytes belong to it.
/// 4. A refusal counts as soon as its code has come: some proxies send no more.
/// 5. The proxy's bound address is skipped, since it means nothing to a connecting client.
///
/// After it has failed or is ready, it repeats that, whatever comes. It knows no sockets and no time, and must not know
/// what goes through the tunnel.
package struct SOCKSMachine: Sendable {
    package enum Destination: Sendable, Hashable {
        /// An address that was resolved here.
        case address(HTTP.SocketAddress)
        /// A name for the proxy to resolve. An address literal is sent as an address.
        case name(String, port: UInt16)
    }

    package enum Action: Sendable, Equatable {
        /// Write all of these bytes, then read.
        case write([UInt8])
        /// Read, and at most this many bytes if what follows must stay unread.
        case read(upTo: Int)
        /// The tunnel is open. This many of the last bytes received are its first ones.
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
    /// The part of the current answer that has come, at most 262 bytes.
    private var answer: [UInt8] = []

    /// Throws for what SOCKS cannot express.
    package init(
        to destination: Destination, user: String? = nil, password: String? = nil
    ) throws(SOCKSError) {
        request = try Self.request(to: destination)
        credentials = user == nil && password == nil ? nil : try Self.credentials(user ?? "", password ?? "")
    }

    /// Begins. Returns what to write.
    package mutating func begin() -> Action {
        guard case .new = state else { return outcome }
        state = .waiting(.method)
        let methods = credentials == nil ? [Method.none] : [Method.none, Method.password]
        return .write([Self.version, UInt8(methods.count)] + methods)
    }

    /// Takes bytes from the proxy, cut anywhere.
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

    /// Notes the end of the stream. Returns nil if the tunnel is open, since the end is then the tunnel's.
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

    /// Handles a complete answer, followed by `following` bytes.
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
    /// The least number of bytes left of the current answer; nil if it is complete. Each byte is checked as it comes.
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

    /// The length of the reply as far as it is known: every type of address has at least five bytes.
    private func replyLength() throws(SOCKSError) -> Int {
        if let refusal = SOCKSError.Refusal(code: answer[1]) { throw .refused(refusal) }
        guard answer.count >= 3 else { return 5 }
        if answer[2] != 0 { throw .reservedByte(answer[2]) }
        guard answer.count >= 4 else { return 5 }
        // Version, code, reserved byte, type, address, port.
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
            // A proxy in C would end the name at a NUL, and other rules might apply to the rest.
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

    /// The bytes in network order.
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
    /// Counts the bytes to write instead of showing them, since they may be a password.
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
