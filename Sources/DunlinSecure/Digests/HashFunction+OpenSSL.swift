internal import COpenSSL
package import DunlinTypes

extension HashFunction {
    /// OpenSSL does not hash like that here: another provider is configured, or memory is out.
    package struct Unavailable: Error, Sendable, Hashable, CustomStringConvertible {
        package let function: HashFunction

        package var description: String { "OpenSSL does not make \(function) hashes" }
    }

    /// The hash of content that is there as a whole. Content in pieces is a `Digester`'s.
    package func hash(of content: Bytes) throws(Unavailable) -> Bytes {
        var length: UInt32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { room, count in
            let isDone = content.withUnsafeBytes { content in
                EVP_Digest(content.baseAddress, content.count, room.baseAddress, &length, method, nil) == 1
            }
            count = isDone ? Int(length) : 0
        }
        guard bytes.count == byteCount else {
            OpenSSLErrors.clear()
            throw Unavailable(function: self)
        }
        return Bytes(bytes)
    }

    /// The message's authentication code by HMAC (RFC 2104).
    package func code(of message: Bytes, key: Bytes) throws(Unavailable) -> Bytes {
        // No key at all would mean to OpenSSL that the key of an earlier call is meant: an empty one has an address.
        let key = (start: key.isEmpty ? [0] : key.array, count: key.count)
        var length = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { room, count in
            let made = message.withUnsafeBytes { message in
                EVP_Q_mac(
                    nil, "HMAC", nil, rawValue, nil, key.start, key.count,
                    message.bindMemory(to: UInt8.self).baseAddress, message.count, room.baseAddress, room.count, &length
                )
            }
            count = made == nil ? 0 : length
        }
        guard bytes.count == byteCount else {
            OpenSSLErrors.clear()
            throw Unavailable(function: self)
        }
        return Bytes(bytes)
    }

    private var method: OpaquePointer? {
        switch self {
        case .md5: EVP_md5()
        case .sha256: EVP_sha256()
        case .sha512: EVP_sha512()
        case .sha512of256: EVP_sha512_256()
        }
    }
}
