internal import COpenSSL
internal import DunlinTypes

/// Reads properties of an `X509`, without keeping or freeing the pointer.
enum X509Reading {
    static func der(_ certificate: OpaquePointer) -> Bytes? {
        encoding { i2d_X509(certificate, $0) }
    }

    static func publicKey(_ certificate: OpaquePointer) -> Certificate.Fingerprint? {
        let key = X509_get_X509_PUBKEY(certificate)
        return encoding { i2d_X509_PUBKEY(key, $0) }.flatMap(fingerprint)
    }

    static func fingerprint(_ bytes: Bytes) -> Certificate.Fingerprint? {
        let digest = [UInt8](unsafeUninitializedCapacity: 32) { room, count in
            let isDone = bytes.withUnsafeBytes {
                EVP_Digest($0.baseAddress, $0.count, room.baseAddress, nil, EVP_sha256(), nil)
            }
            count = isDone == 1 ? 32 : 0
        }
        return Certificate.Fingerprint(bytes: Bytes(digest))
    }

    /// Returns a name's hash. It is equal for names that `X509_NAME_cmp` considers equal: case, white space and kinds
    /// of strings do not matter. Without SHA-1 it is 0 for all names.
    static func hash(of name: OpaquePointer?) -> UInt {
        defer { OpenSSLErrors.clear() }
        return X509_NAME_hash_ex(name, nil, nil, nil)
    }

    /// Returns the subject alternative names; empty also if the extension occurs twice or cannot be read.
    static func names(_ certificate: OpaquePointer) -> [PresentedName] {
        guard let names = OpaquePointer(X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil)) else {
            OpenSSLErrors.clear()
            return []
        }
        defer { GENERAL_NAMES_free(names) }
        return (0..<dunlin_name_count(names)).compactMap { index in
            var kind: Int32 = 0
            guard let value = GENERAL_NAME_get0_value(dunlin_name_at(names, index), &kind) else { return nil }
            switch kind {
            case GEN_DNS: return .dns(contents(value))
            case GEN_IPADD: return .address(contents(value))
            default: return nil
            }
        }
    }

    static func contents(_ string: UnsafeMutableRawPointer) -> Bytes {
        let string = string.assumingMemoryBound(to: ASN1_STRING.self)
        return Bytes(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
    }

    /// Encodes in two calls: one for the length and one for the bytes.
    private static func encoding(
        _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) -> Bytes? {
        let length = Int(encode(nil))
        guard length > 0 else {
            OpenSSLErrors.clear()
            return nil
        }
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { room, count in
            var cursor = room.baseAddress
            count = encode(&cursor) == length ? length : 0
        }
        return bytes.isEmpty ? nil : Bytes(bytes)
    }
}

// The texts for people.
extension X509Reading {
    static func details(_ certificate: OpaquePointer) -> Certificate.Details {
        Certificate.Details(
            subject: name(X509_get_subject_name(certificate)), issuer: name(X509_get_issuer_name(certificate)),
            names: names(certificate).map(\.text), serialNumber: serialNumber(certificate),
            notBefore: seconds(X509_get0_notBefore(certificate)) ?? 0,
            notAfter: seconds(X509_get0_notAfter(certificate)) ?? 0,
            fingerprint: der(certificate).flatMap(fingerprint) ?? .zero, publicKey: publicKey(certificate) ?? .zero,
            key: key(certificate), signature: signature(certificate), isAuthority: X509_check_ca(certificate) > 0)
    }

    static func name(_ name: OpaquePointer?) -> String {
        text { X509_NAME_print_ex($0, name, 0, dunlin_name_flags) }
    }

    private static func serialNumber(_ certificate: OpaquePointer) -> String {
        text { i2a_ASN1_INTEGER($0, X509_get0_serialNumber(certificate)) }
    }

    private static func key(_ certificate: OpaquePointer) -> String {
        guard let key = X509_get0_pubkey(certificate), let kind = EVP_PKEY_get0_type_name(key) else {
            OpenSSLErrors.clear()
            return "unknown"
        }
        return "\(String(cString: kind)) \(EVP_PKEY_get_bits(key))"
    }

    private static func signature(_ certificate: OpaquePointer) -> String {
        OBJ_nid2ln(X509_get_signature_nid(certificate)).map { String(cString: $0) } ?? "unknown"
    }

    /// Returns when the certificate is valid: never, if that cannot be read.
    static func validity(_ certificate: OpaquePointer) -> PathValidity {
        guard let from = seconds(X509_get0_notBefore(certificate)),
            let until = seconds(X509_get0_notAfter(certificate))
        else { return PathValidity(from: .max, until: .min) }
        return PathValidity(from: from, until: until)
    }

    /// The system's time, in seconds since 1970.
    static var now: Int64 { seconds(nil) ?? 0 }

    /// Returns seconds since 1970; the current time for nil. Returns nil if the time cannot be read.
    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var days: Int32 = 0
        var rest: Int32 = 0
        guard let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_TIME_free(epoch) }
        guard ASN1_TIME_diff(&days, &rest, epoch, time) == 1 else {
            OpenSSLErrors.clear()
            return nil
        }
        return Int64(days) * 86_400 + Int64(rest)
    }

    /// Returns what `write` writes, up to a limit, as the server chooses the names.
    private static func text(_ write: (OpaquePointer) -> Int32) -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { return "unreadable" }
        defer { BIO_free(bio) }
        var start: UnsafePointer<CChar>?
        guard write(bio) >= 0, case let count = dunlin_bio_contents(bio, &start), let start else {
            OpenSSLErrors.clear()
            return ""
        }
        let bytes = UnsafeRawBufferPointer(start: start, count: min(count, 512))
        return VisibleText.of(String(decoding: bytes, as: UTF8.self))
    }
}

extension PresentedName {
    /// The text for people, only printable ASCII.
    var text: String {
        switch self {
        case .address(let octets): HostIdentity.text(of: octets) ?? "an address of \(octets.count) bytes"
        case .dns(let name):
            String(
                decoding: name.prefix(253).map { (0x21..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
        }
    }
}

extension Certificate.Fingerprint {
    /// A placeholder for a digest that could not be computed; no content has it.
    static let zero = Certificate.Fingerprint(unchecked: Bytes([UInt8](repeating: 0, count: 32)))
}
