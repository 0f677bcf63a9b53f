internal import COpenSSL
internal import DunlinTypes

/// A path of certificates, which owns a stack and a reference to each.
final class X509Path {
    let stack: OpaquePointer

    init(owning stack: OpaquePointer) {
        self.stack = stack
    }

    /// Creates an empty path; nil if memory is short.
    init?() {
        guard let stack = dunlin_certificates_new() else { return nil }
        self.stack = stack
    }

    deinit { dunlin_certificates_free(stack) }

    /// Appends a certificate, with a new reference.
    func append(_ certificate: OpaquePointer) {
        guard X509_up_ref(certificate) == 1 else { return }
        if dunlin_certificates_push(stack, certificate) <= 0 { X509_free(certificate) }
    }

    func append(_ certificate: Certificate) {
        if let parsed = ParsedCertificate(der: certificate.der) { append(parsed.pointer) }
    }

    /// Removes all but the first.
    func keepFirst() {
        while dunlin_certificate_count(stack) > 1 { X509_free(dunlin_certificates_pop(stack)) }
    }

    var pointers: [OpaquePointer] { Self.pointers(stack) }
    var certificates: [Certificate] { pointers.compactMap { Certificate($0) } }

    /// Returns the certificates of a stack that somebody else owns.
    static func pointers(_ stack: OpaquePointer?) -> [OpaquePointer] {
        guard let stack else { return [] }
        return (0..<dunlin_certificate_count(stack)).compactMap { dunlin_certificate_at(stack, $0) }
    }
}
