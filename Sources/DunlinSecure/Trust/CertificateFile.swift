package import DunlinTypes

/// Reads certificates from a file's contents: one in DER, or any number in PEM.
package enum CertificateFile {
    /// Returns the certificates. Throws if there is none, or if one is invalid. `source` names the file in errors.
    package static func certificates(in bytes: Bytes, source: String) throws(NetworkError.TrustConfigurationError)
        -> [Certificate]
    {
        guard !bytes.isEmpty else { throw .notACertificate(source: source, problem: "it is empty") }
        guard PEM.isPEM(bytes) else {
            if let certificate = Certificate(der: bytes) { return [certificate] }
            throw .notACertificate(source: source, problem: "it is neither PEM nor DER")
        }
        var certificates: [Certificate] = []
        for block in try blocks(of: bytes, source: source) {
            certificates.append(try certificate(block, number: certificates.count + 1, source: source))
        }
        if certificates.isEmpty { throw .notACertificate(source: source, problem: "it holds no PEM block") }
        return certificates
    }

    static func certificate(
        _ block: PEM.Block, number: Int, source: String
    ) throws(NetworkError.TrustConfigurationError) -> Certificate {
        guard ["CERTIFICATE", "X509 CERTIFICATE"].contains(block.label) else {
            throw .notACertificate(source: source, problem: "it holds a \(block.label)")
        }
        guard let certificate = Certificate(der: block.bytes) else {
            throw .notACertificate(source: source, problem: "certificate \(number) in it cannot be read")
        }
        return certificate
    }

    /// Returns the bytes of the certificates in PEM blocks; none if the text is broken. They are not parsed here: a
    /// system's bundle is not the user's fault, and one root of a new kind is no reason to trust none.
    static func encoded(in bytes: Bytes) -> [Bytes] {
        do throws(PEM.Problem) {
            let blocks = try PEM.blocks(of: bytes).filter {
                $0.label == "CERTIFICATE" || $0.label == "X509 CERTIFICATE"
            }
            return blocks.map(\.bytes)
        } catch {
            return []
        }
    }

    /// Returns the certificates that can be read, for tests.
    package static func readable(in bytes: Bytes) -> [Certificate] {
        encoded(in: bytes).compactMap { Certificate(der: $0) }
    }

    static func blocks(of bytes: Bytes, source: String) throws(NetworkError.TrustConfigurationError) -> [PEM.Block] {
        do throws(PEM.Problem) {
            return try PEM.blocks(of: bytes)
        } catch {
            throw .notACertificate(source: source, problem: error.description)
        }
    }
}
