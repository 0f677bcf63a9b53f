public import DunlinTypes
internal import Glibc

/// An authority's list of revoked certificates (RFC 5280 §5).
public struct RevocationList: Sendable {
    public let der: Bytes

    public var pem: String { PEM.text("X509 CRL", der) }
}

/// What an authority says about a certificate.
public enum RevocationStatus: Sendable, Hashable {
    case good, revoked, unknown
}

extension CertificateAuthority {
    /// Returns a list by this authority, with `others` unknown certificates in addition to those named. It is valid
    /// from an hour ago, for the given duration.
    public func revocationList(
        revoking certificates: IssuedCertificate..., others: Int = 0, validUntil: Duration = .seconds(7 * 86_400)
    ) throws(AuthorityError) -> RevocationList {
        let now = time(nil)
        let since = DER.time(now - 3600)
        // Real serial numbers are random and long, so short ones belong to nobody.
        let unseen = (0..<max(0, others)).map { number in
            DER.integer([
                1, UInt8(truncatingIfNeeded: number >> 16), UInt8(truncatingIfNeeded: number >> 8),
                UInt8(truncatingIfNeeded: number),
            ])
        }
        let revoked = (unseen + certificates.map { DER.integer($0.serial) }).map { DER.sequence($0, since) }
        let extensions = DER.sequence(
            CertificateTemplate.authorityKey(try certificate.key.identifier),
            CertificateTemplate.entry(.listNumber, DER.integer(1)))
        let content = DER.sequence(
            DER.integer(1), try SignatureDigest.sha256.algorithm(certificate.key.kind), name, since,
            DER.time(now + Int(validUntil.components.seconds)),
            revoked.isEmpty ? [] : DER.sequence(of: revoked), DER.explicit(0, extensions))
        return RevocationList(der: Bytes(try certificate.key.signed(content)))
    }

    /// Returns an OCSP response (RFC 6960) for a server to staple: about one certificate of this authority, signed by
    /// it or by the responder that it has issued a certificate to. It is valid from an hour ago, for the given
    /// duration; a negative one makes it stale.
    public func staple(
        _ status: RevocationStatus, for issued: IssuedCertificate, signedBy responder: IssuedCertificate? = nil,
        validUntil: Duration = .seconds(7 * 86_400)
    ) throws(AuthorityError) -> Bytes {
        let signer = responder?.key ?? certificate.key
        let start = time(nil) - (validUntil > .zero ? 3600 : 14 * 86_400)
        let end = time(nil) + Int(validUntil.components.seconds)
        let answer = DER.sequence(
            try statusName(of: issued), Self.status(status, since: start), DER.generalTime(start),
            DER.explicit(0, DER.generalTime(end)))
        let content = DER.sequence(
            DER.explicit(2, DER.octets(try signer.identifier)), DER.generalTime(start), DER.sequence(answer))
        let signature = try signer.open().sign(content, .sha256)
        let basic = DER.sequence(
            content, try SignatureDigest.sha256.algorithm(signer.kind), DER.bits(signature),
            responder.map { DER.explicit(0, DER.sequence($0.der.array)) } ?? [])
        let whole = DER.sequence(DER.object(.basicStatus), DER.octets(basic))
        return Bytes(DER.sequence(DER.enumerated(0), DER.explicit(0, whole)))
    }

    /// The CertID: the issuer and serial number of a certificate.
    private func statusName(of issued: IssuedCertificate) throws(AuthorityError) -> [UInt8] {
        DER.sequence(
            DER.sequence(DER.object(.sha1), DER.null), DER.octets(try Digest.sha1(name)),
            DER.octets(try certificate.key.identifier), DER.integer(issued.serial))
    }

    private static func status(_ status: RevocationStatus, since: Int) -> [UInt8] {
        switch status {
        case .good: DER.implicit(0, [])
        case .revoked: DER.explicit(1, DER.generalTime(since))
        case .unknown: DER.implicit(2, [])
        }
    }
}
