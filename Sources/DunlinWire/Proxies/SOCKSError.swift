/// Why a SOCKS proxy was not asked or did not connect. No case contains a name, an address or a secret.
package enum SOCKSError: Error, Sendable, Hashable {
    /// What the machine is waiting for.
    package enum Step: Sendable, Hashable {
        case method
        case password
        case reply
    }

    /// The reason that a proxy gives for not connecting (RFC 1928 §6).
    package enum Refusal: Sendable, Hashable {
        case generalFailure
        case notAllowed
        case networkUnreachable
        case hostUnreachable
        case connectionRefused
        case timeToLiveExpired
        case commandNotSupported
        case addressTypeNotSupported
        case unknown(UInt8)
    }

    // Before a byte is sent.
    /// The name is empty, or contains a blank, a control character or a byte beyond ASCII.
    case unfitName
    /// The name is too long for its length to fit in one byte.
    case nameTooLong
    /// The user name or password is empty or longer than 255 bytes.
    case unfitCredentials
    /// The address is a Unix socket, or has a zone, which is valid only on this machine.
    case unfitAddress

    // After bytes were received.
    case wrongVersion(UInt8, Step)
    /// The proxy accepts none of the offered methods.
    case noMethod(hadCredentials: Bool)
    case methodNotOffered(UInt8)
    case credentialsRefused
    case refused(Refusal)
    case reservedByte(UInt8)
    case unknownAddressType(UInt8)
    /// The proxy sent unrequested bytes.
    case unaskedBytes
    case closed(Step)
}

extension SOCKSError.Refusal {
    init?(code: UInt8) {
        switch code {
        case 0: return nil
        case 1: self = .generalFailure
        case 2: self = .notAllowed
        case 3: self = .networkUnreachable
        case 4: self = .hostUnreachable
        case 5: self = .connectionRefused
        case 6: self = .timeToLiveExpired
        case 7: self = .commandNotSupported
        case 8: self = .addressTypeNotSupported
        default: self = .unknown(code)
        }
    }
}

extension SOCKSError: CustomStringConvertible {
    /// Half a sentence, for a larger one.
    package var description: String {
        switch self {
        case .unfitName: "the host's name has a character that no name may have"
        case .nameTooLong: "the host's name is longer than the 255 bytes that SOCKS allows"
        case .unfitCredentials: "SOCKS needs a user name and a password of 1 to 255 bytes each"
        case .unfitAddress: "SOCKS supports neither Unix sockets nor zones of addresses"
        // `H` begins "HTTP/1.1 400 Bad Request".
        case .wrongVersion(UInt8(ascii: "H"), .method): "the proxy speaks HTTP and not SOCKS"
        case .wrongVersion(4, .method), .wrongVersion(0, .method): "the proxy speaks an older version of SOCKS than 5"
        case .wrongVersion(let version, let step): "the proxy's \(step) has version \(version), which is not SOCKS5's"
        case .noMethod(hadCredentials: true):
            "the proxy accepts neither user name and password nor requests without them; Dunlin supports nothing else"
        case .noMethod(hadCredentials: false):
            "the proxy requires authentication; add a user name and a password to its URL"
        case .methodNotOffered(let method): "the proxy chose method \(method), which it was not offered"
        case .credentialsRefused: "the proxy refused the user name and the password"
        case .refused(let refusal): "\(refusal)"
        case .reservedByte(let byte): "the proxy's answer is not SOCKS5: its third byte must be 0, and is \(byte)"
        case .unknownAddressType(let type): "the proxy's answer has an address of the unknown type \(type)"
        case .unaskedBytes: "the proxy sent unexpected bytes"
        case .closed(let step): "the proxy closed the connection before its \(step)"
        }
    }
}

extension SOCKSError.Step: CustomStringConvertible {
    package var description: String {
        switch self {
        case .method: "choice of a method"
        case .password: "answer to the password"
        case .reply: "answer"
        }
    }
}

extension SOCKSError.Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .generalFailure: "the proxy failed, and gives no reason"
        case .notAllowed: "the proxy's rules do not allow this connection"
        case .networkUnreachable: "the proxy cannot reach the network"
        case .hostUnreachable: "the proxy cannot reach the host"
        case .connectionRefused: "the host refused the proxy's connection"
        case .timeToLiveExpired: "the time to live of the proxy's packets expired"
        case .commandNotSupported: "the proxy does not support connecting"
        case .addressTypeNotSupported: "the proxy does not support this type of address"
        case .unknown(let code): "the proxy refused, with the unknown code \(code)"
        }
    }
}
