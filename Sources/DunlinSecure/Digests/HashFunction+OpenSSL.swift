internal import COpenSSL
package import DunlinTypes

extension HashFunction {
    /// The error when OpenSSL cannot hash like that here: another provider is configured, or memory is out.
    package struct Unavailable: Error, Sendable, Hashable, CustomStringConvertible {
        package let function: HashFunction

        package var description: String { "OpenSSL cannot compute \(function) hashes" }
    }

    /// Returns the hash of whole content. For content in pieces there is `Digester`.
    package func hash(of content: Bytes) throws(Unavailable) -> Bytes {
        try hash { room, length in
            content.withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, room, &length, method, nil) == 1 }
        }
    }

    /// Returns the hash of long content, computed in steps; throws the error that `check` throws before one.
    package func hash(of content: Bytes, _ check: () throws -> Void) throws -> Bytes {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var isMade = context != nil && EVP_DigestInit_ex(context, method, nil) == 1
        var offset = 0
        while isMade, offset < content.count {
            try check()
            let end = min(offset + Self.step, content.count)
            isMade = content[offset..<end].withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
            offset = end
        }
        return try hash { room, length in isMade && EVP_DigestFinal_ex(context, room, &length) == 1 }
    }

    private static let step = 1 << 20

    private func hash(
        _ make: (UnsafeMutablePointer<UInt8>?, inout UInt32) -> Bool
    ) throws(Unavailable) -> Bytes {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { room, count in
            var length: UInt32 = 0
            count = make(room.baseAddress, &length) ? Int(length) : 0
        }
        guard bytes.count == byteCount else {
            OpenSSLErrors.clear()
            throw Unavailable(function: self)
        }
        return Bytes(bytes)
    }

    /// Returns the message's authentication code by HMAC (RFC 2104).
    package func code(of message: Bytes, key: Bytes) throws(Unavailable) -> Bytes {
        // OpenSSL takes a null key for that of an earlier call, so an empty key gets an address.
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

    /// The method for SHA-256, which names files: OpenSSL searches its providers for any other at each hash, which
    /// takes as long as the hash of a URL.
    private static let found: Owned? = {
        guard let method = EVP_MD_fetch(nil, "SHA2-256", nil) else {
            OpenSSLErrors.clear()
            return nil
        }
        return Owned(method) { EVP_MD_free($0) }
    }()

    private var method: OpaquePointer? {
        switch self {
        case .md5: EVP_md5()
        case .sha1: EVP_sha1()
        case .sha256: Self.found?.pointer ?? EVP_sha256()
        case .sha512: EVP_sha512()
        case .sha512of256: EVP_sha512_256()
        }
    }
}
