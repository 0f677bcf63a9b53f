internal import COpenSSL
internal import DunlinTypes

/// Digests of whole contents.
enum Digest {
    static func sha256(_ bytes: some Collection<UInt8>) throws(AuthorityError) -> [UInt8] {
        try digest("SHA256", Array(bytes))
    }

    static func sha1(_ bytes: some Collection<UInt8>) throws(AuthorityError) -> [UInt8] {
        try digest("SHA1", Array(bytes))
    }

    private static func digest(_ name: String, _ bytes: [UInt8]) throws(AuthorityError) -> [UInt8] {
        var count = 0
        let result = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, filled in
            let isMade = EVP_Q_digest(nil, name, nil, bytes, bytes.count, buffer.baseAddress, &count) == 1
            filled = isMade ? count : 0
        }
        guard !result.isEmpty else { throw AuthorityError(.hashing) }
        return result
    }
}

/// PEM (RFC 7468).
enum PEM {
    static func text(_ label: String, _ bytes: some Collection<UInt8>) -> String {
        var body = base64(Array(bytes))[...]
        var lines = ["-----BEGIN \(label)-----"]
        while !body.isEmpty {
            lines.append(String(body.prefix(64)))
            body = body.dropFirst(64)
        }
        return (lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }

    static func base64(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4 + 1) { buffer in
            Int(EVP_EncodeBlock(buffer.baseAddress, bytes, Int32(bytes.count)))
        }
    }
}
