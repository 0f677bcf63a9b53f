import COpenSSL
import DunlinTesting
import DunlinTypes
import Testing

@testable import DunlinSecure

@Suite struct `Outlines of certificates` {
    private func subject(_ certificate: borrowing ParsedCertificate) -> UInt {
        X509Reading.hash(of: X509_get_subject_name(certificate.pointer))
    }

    @Test func `an outline finds the subject that OpenSSL reads, in each of the system's roots`() throws {
        for root in try SystemRoots(certificateFile: nil, certificateFolders: nil).read().roots {
            #expect(CertificateOutline(root.der) != nil)
            guard let parsed = ParsedCertificate(der: root.der) else { continue }
            #expect(subject(parsed) == root.subject)
        }
    }

    @Test func `an outline is read only from a whole certificate, not from one that was cut or added to`() throws {
        let der = try CertificateAuthority().certificate.der
        let outline = try #require(CertificateOutline(der))
        #expect(der[outline.subject].first == 0x30)
        for count in 0..<der.count {
            #expect(CertificateOutline(der[0..<count]) == nil)
            #expect(TrustStore.Root(der: der[0..<count]) == nil)
        }
        #expect(CertificateOutline(Bytes(der.array + [0])) == nil)
    }

    @Test func `whatever byte of a certificate is another, the outline finds what OpenSSL finds, or nothing`() throws {
        let der = try CertificateAuthority().certificate.der.array
        var read = 0
        for index in der.indices {
            for byte in [0x00, 0x01, 0x30, 0x7F, 0x80, 0x84, 0xFF, der[index] &+ 1, der[index] ^ 0x80] as [UInt8] {
                var bytes = der
                bytes[index] = byte
                let garbled = Bytes(bytes)
                if let outline = CertificateOutline(garbled) { #expect(outline.subject.upperBound < der.count) }
                guard let parsed = ParsedCertificate(der: garbled) else { continue }
                read += 1
                #expect(TrustStore.Root(der: garbled)?.subject == subject(parsed), "\(byte) at \(index)")
            }
        }
        #expect(read > der.count)
    }

    /// Short ones, and such with lengths that lead out of them.
    static let none: [[UInt8]] = [
        [], [0x30], [0x30, 0x00], [0x30, 0x80], [0x30, 0x80, 0x00, 0x00], [0x30, 0x81], [0x30, 0x81, 0x00],
        [0x30, 0x82, 0x00], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF, 0x30],
        [0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        [0x30, 0xFF] + [UInt8](repeating: 0xFF, count: 127),
        [0x30, 0x02, 0x30, 0x00], [0x30, 0x02, 0x30, 0x7F], [0x31, 0x02, 0x30, 0x00],
        [0x30, 0x04, 0x30, 0x02, 0xA0, 0x00],
        [0x30, 0x05, 0x30, 0x03, 0x02, 0x01, 0x01], [0x30, 0x09, 0x30, 0x07, 0x02, 0x01, 0x01, 0x30, 0x00, 0x30, 0x7F],
        [0x30, 0x0B, 0x30, 0x09, 0x02, 0x01, 0x01, 0x30, 0x00, 0x30, 0x00, 0x30, 0x00],
        [0x30, 0x0D, 0x30, 0x0B, 0x02, 0x01, 0x01, 0x30, 0x00, 0x30, 0x00, 0x30, 0x00, 0x30, 0x00],
    ]

    @Test(arguments: none)
    func `an outline of what is no certificate is nil`(bytes: [UInt8]) {
        #expect(CertificateOutline(Bytes(bytes)) == nil)
        #expect(TrustStore.Root(der: Bytes(bytes)) == nil)
    }

    @Test(
        arguments: [
            ([0x02, 0x01, 0x01], 14..<16), ([0xA0, 0x03, 0x02, 0x01, 0x02, 0x02, 0x01, 0x01], 19..<21),
            // A length that is longer than it need be, as OpenSSL reads it.
            ([0x02, 0x81, 0x01, 0x01], 15..<17), ([0x02, 0x84, 0x00, 0x00, 0x00, 0x01, 0x01], 18..<20),
        ] as [([UInt8], Range<Int>)])
    func `an outline goes by lengths down to the subject`(start: [UInt8], subject: Range<Int>) {
        let empty: [UInt8] = [0x30, 0x00]
        let fields = start + empty + [0x30, 0x01, 0xFF] + empty + empty + empty
        let bytes = [0x30, UInt8(fields.count + 2), 0x30, UInt8(fields.count)] + fields
        #expect(CertificateOutline(Bytes(bytes))?.subject == subject)
    }

    @Test func `a root that is not DER is read as OpenSSL reads it`() throws {
        let der = try CertificateAuthority().certificate.der.array
        // The length of the whole takes four bytes in front of it; here its end is marked instead.
        let bytes = Bytes([0x30, 0x80] + der[4...] + [0x00, 0x00])
        #expect(CertificateOutline(bytes) == nil)
        guard let parsed = ParsedCertificate(der: bytes) else {
            Issue.record("OpenSSL does not read it")
            return
        }
        #expect(TrustStore.Root(der: bytes)?.subject == subject(parsed))
    }
}
