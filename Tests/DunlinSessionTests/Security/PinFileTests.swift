import Dunlin
import DunlinTesting
import Folders
import FoundationEssentials
import LedgerRows
import Mocking
import Testing

@testable import DunlinSession

@Suite struct `Files of pins` {
    private let folder = Folder.unmade()
    private let one: IssuedCertificate
    private let two: IssuedCertificate

    init() throws {
        one = try IssuedCertificate.selfSigned(.server("one.test"))
        two = try IssuedCertificate.selfSigned(.server("two.test"))
    }

    private var both: Set<SecurityPolicy.Pin> {
        get throws { [try .init(certificate: one.der), try .init(certificate: two.der)] }
    }

    @Test(.rows("SP-3", "SP-4", "VD-8")) func `certificate files of all four kinds in a folder make pins, each once`()
        throws
    {
        try folder.write(one.der, as: "a.cer")
        try folder.write(one.der, as: "b.DER")
        try folder.write(Bytes(one.pem), as: "c.crt")
        try folder.write(Bytes(one.pem + two.pem), as: "d.pem")
        try folder.write("garbage", as: "readme.txt")
        try folder.write("garbage", as: "below/e.pem")
        #expect(try SecurityPolicy.loadPins(directory: folder.path) == both)
    }

    @Test func `a file of pins may hold a public key alone`() throws {
        let key = "-----BEGIN PUBLIC KEY-----\n\(Base64.encode(one.key.publicKeyInfo))\n-----END PUBLIC KEY-----\n"
        let path = try folder.write(Bytes(key), as: "key.pem")
        #expect(try SecurityPolicy.loadPins(file: path) == [try .init(one.pin)])
    }

    @Test(.rows("SP-4")) func `a file of pins that is garbage is refused by name, whatever stands beside it`() throws {
        try folder.write(one.der, as: "a.cer")
        for (name, bytes) in [
            ("x.cer", Bytes("garbage")), ("x.pem", Bytes(String(one.pem.dropLast(40)))), ("x.der", Bytes.empty),
            ("x.crt", Bytes(one.der.dropLast(1))), ("x.pem", Bytes(try one.privateKeyPEM)),
        ] {
            let path = try folder.write(bytes, as: name)
            let error = #expect(throws: NetworkError.TrustConfigurationError.self) {
                try SecurityPolicy.loadPins(directory: folder.path)
            }
            #expect(error?.description.hasPrefix("\(path) is not a certificate: ") == true)
            try folder.remove(name)
        }
        #expect(try SecurityPolicy.loadPins(directory: folder.path).count == 1)
    }

    @Test func `a file of pins that is not there, or a folder without any, is an error`() throws {
        #expect(throws: NetworkError.TrustConfigurationError.unreadable("/nonexistent")) {
            try SecurityPolicy.loadPins(directory: "/nonexistent")
        }
        #expect(throws: NetworkError.TrustConfigurationError.unreadable("/nonexistent.cer")) {
            try SecurityPolicy.loadPins(file: "/nonexistent.cer")
        }
        try folder.write("nothing", as: "readme.txt")
        #expect(throws: NetworkError.TrustConfigurationError.noCertificates(in: folder.path)) {
            try SecurityPolicy.loadPins(directory: folder.path)
        }
    }
}
