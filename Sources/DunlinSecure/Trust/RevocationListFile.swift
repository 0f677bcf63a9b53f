internal import COpenSSL
package import DunlinTypes

/// Reads revocation lists that a user gives.
package enum RevocationListFile {
    /// Returns the lists in a file as DER. Throws if there is none, or if one is invalid.
    package static func lists(in bytes: Bytes, source: String) throws(NetworkError.TrustConfigurationError) -> [Bytes] {
        var lists = [bytes]
        if PEM.isPEM(bytes) {
            do throws(PEM.Problem) {
                lists = try PEM.blocks(of: bytes).filter { $0.label == "X509 CRL" }.map(\.bytes)
            } catch {
                throw .contradiction("\(source) is not a revocation list: \(error.description)")
            }
        }
        guard !lists.isEmpty, lists.allSatisfy(isList) else {
            throw .contradiction("\(source) holds no revocation list that can be read")
        }
        return lists
    }

    private static func isList(_ bytes: Bytes) -> Bool {
        guard let list = decode(bytes) else { return false }
        X509_CRL_free(list)
        return true
    }

    /// Decodes a list, which the caller must free.
    static func decode(_ bytes: Bytes) -> OpaquePointer? {
        var used = 0
        let list = bytes.withUnsafeBytes {
            dunlin_crl_decode($0.bindMemory(to: UInt8.self).baseAddress, $0.count, &used)
        }
        guard let list, used == bytes.count else {
            OpenSSLErrors.clear()
            if let list { X509_CRL_free(list) }
            return nil
        }
        return list
    }

    /// Returns the lists for OpenSSL; unreadable ones are left out. Nil if memory is short.
    static func opened(_ lists: [Bytes]) -> Owned? {
        guard let stack = dunlin_crls_new() else { return nil }
        for list in lists {
            guard let decoded = decode(list) else { continue }
            guard dunlin_crls_push(stack, decoded) > 0 else {
                X509_CRL_free(decoded)
                dunlin_crls_free(stack)
                return nil
            }
        }
        return Owned(stack) { dunlin_crls_free($0) }
    }
}
