import DunlinSecure
import DunlinTypes

/// What trust is loaded from: files of certificates, pins and revocation lists, pins and patterns as text, a server's
/// chain and its staple. Whatever comes, it is refused or it is one thing, and nobody is believed.
enum FuzzTrust {
    static func violation(of input: [UInt8]) -> String? {
        let bytes = Bytes(input)
        return pemViolation(bytes) ?? certificateViolation(bytes) ?? textViolation(bytes) ?? decisionViolation(bytes)
    }

    private static func pemViolation(_ bytes: Bytes) -> String? {
        do throws(PEM.Problem) {
            let blocks = try PEM.blocks(of: bytes)
            let text = blocks.map { block in
                "-----BEGIN \(block.label)-----\n\(Base64.encode(block.bytes))\n-----END \(block.label)-----\n"
            }
            let again = try PEM.blocks(of: Bytes(text.joined()))
            return again == blocks ? nil : "PEM written and read again is something else"
        } catch {
            return nil
        }
    }

    private static func certificateViolation(_ bytes: Bytes) -> String? {
        if let certificate = Certificate(der: bytes) {
            if certificate.details != certificate.details { return "a certificate reads differently each time" }
            if certificate.description.isEmpty { return "a certificate has no description" }
            if !isRoot(certificate) { return "a certificate that can be read cannot be a root" }
        }
        let readable = CertificateFile.readable(in: bytes)
        do throws(NetworkError.TrustConfigurationError) {
            let strict = try CertificateFile.certificates(in: bytes, source: "input")
            if strict.isEmpty { return "a file without certificates was taken" }
            if PEM.isPEM(bytes), strict != readable { return "strict and lenient readers differ" }
            let pins = try PinFile.contents(of: bytes, source: "input")
            if pins.certificates != strict { return "a file of certificates has other pins" }
        } catch {
            if error.description.isEmpty { return "an error without a description" }
        }
        do throws(NetworkError.TrustConfigurationError) {
            _ = try PinFile.contents(of: bytes, source: "input")
            _ = try RevocationListFile.lists(in: bytes, source: "input")
        } catch {
            return nil
        }
        return nil
    }

    private static func isRoot(_ certificate: Certificate) -> Bool {
        do throws(NetworkError.TrustConfigurationError) {
            return try TrustStore([certificate]).count == 1
        } catch {
            return false
        }
    }

    private static func textViolation(_ bytes: Bytes) -> String? {
        let text = String(bytes)
        if let pin = Certificate.Fingerprint(text), pin.description != text { return "a pin is written differently" }
        if let pattern = HostPattern(text), HostPattern(pattern.text) != pattern {
            return "a pattern written and read again is something else"
        }
        let host = HostIdentity(text)
        if HostMatch.matches(host, .dns("a.test")), !["a.test", "a.test."].contains(text.lowercased()) {
            return "another host goes by its name"
        }
        if HostMatch.matches(HostIdentity("a.test"), .dns(bytes)), text.lowercased() != "a.test" {
            return "a name stands for another host"
        }
        return nil
    }

    /// Nobody is a root here.
    private static let evaluator: TrustEvaluator? = {
        do throws(NetworkError.TrustConfigurationError) {
            var rules = TrustRules()
            rules.mode = .publicKey
            let pin = Certificate.Fingerprint("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
            rules.pins = TrustRules.Pins(keys: Set([pin].compactMap(\.self)))
            rules.allowsInvalid = true
            rules.checksHost = false
            rules.revocation.staple = .required
            return try TrustEvaluator(rules, roots: TrustStore([Certificate]()))
        } catch {
            return nil
        }
    }()

    private static func decisionViolation(_ bytes: Bytes) -> String? {
        guard let evaluator else { return "no evaluator" }
        let chain = CertificateFile.readable(in: bytes).map(\.der)
        let decision = evaluator.decide(chain.isEmpty ? [bytes] : chain, host: HostIdentity("a.test"), staple: bytes)
        guard case .refused(let refusal) = decision else { return "somebody is believed" }
        return refusal.description.isEmpty ? "a refusal without a reason" : nil
    }
}
