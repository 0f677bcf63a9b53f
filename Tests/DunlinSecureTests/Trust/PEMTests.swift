import DunlinTypes
import Testing

@testable import DunlinSecure

@Suite struct `PEM texts` {
    private static func block(_ label: String, _ body: String, newline: String = "\n") -> String {
        "-----BEGIN \(label)-----\(newline)\(body)\(newline)-----END \(label)-----\(newline)"
    }

    static let good: [(String, [String])] = [
        ("", []), ("nothing here\n", []), (block("A", "AAAA"), ["A"]),
        (block("A", "AAAA") + block("B C", "AA==\n"), ["A", "B C"]), (block("A", "AA\nAA", newline: "\r\n"), ["A"]),
        ("# Some root\n" + block("A", "AAAA") + "\n\n# Another\n" + block("A", "AAAA"), ["A", "A"]),
        ("-----BEGIN A-----\n  AAAA\t\n-----END A----- ", ["A"]), (block("A", ""), ["A"]),
        ("-----BEGIN A----\nAAAA\n-----END A-----", []),
    ]

    @Test(arguments: good)
    func `a PEM text is read block by block`(text: String, labels: [String]) throws {
        #expect(try PEM.blocks(of: Bytes(text)).map(\.label) == labels)
    }

    static let bad: [(String, PEM.Problem)] = [
        ("-----BEGIN A-----\nAAAA\n", .notClosed(label: "A")), ("-----BEGIN A-----", .notClosed(label: "A")),
        (block("A", "AAA"), .notBase64(label: "A")),
        (block("A", "Proc-Type: 4,ENCRYPTED\n\nAAAA"), .notBase64(label: "A")),
        ("-----BEGIN A-----\nAAAA\n-----END B-----\n", .closedOtherwise(label: "A")),
        ("-----BEGIN A-----\n-----BEGIN A-----\nAAAA\n-----END A-----\n", .notClosed(label: "A")),
        (block("A", "AA AA"), .notBase64(label: "A")),
    ]

    @Test(arguments: bad)
    func `a PEM text that is broken is refused with where it breaks`(text: String, problem: PEM.Problem) {
        #expect(throws: problem) { try PEM.blocks(of: Bytes(text)) }
    }

    static let garbage: [(String, Bytes, String)] = [
        ("x.cer", "", "x.cer is not a certificate: it is empty"),
        ("x.cer", "garbage", "x.cer is not a certificate: it is neither PEM nor DER"),
        (
            "x.pem", Bytes(block("CERTIFICATE", "AAAA")),
            "x.pem is not a certificate: certificate 1 in it cannot be read"
        ),
        ("x.pem", Bytes(block("PRIVATE KEY", "AAAA")), "x.pem is not a certificate: it holds a PRIVATE KEY"),
        (
            "x.pem", "-----BEGIN CERTIFICATE-----\nAAAA",
            "x.pem is not a certificate: its CERTIFICATE block has no end line"
        ),
    ]

    @Test(arguments: garbage)
    func `a file without a valid certificate is refused by its name`(
        source: String, bytes: Bytes, text: String
    ) {
        do throws(NetworkError.TrustConfigurationError) {
            _ = try CertificateFile.certificates(in: bytes, source: source)
            Issue.record("it was taken")
        } catch {
            #expect(error.description == text)
        }
    }
}
