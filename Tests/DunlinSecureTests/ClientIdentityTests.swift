import DunlinTesting
import DunlinTypes
import Folders
import Glibc
import Testing

@testable import DunlinSecure

@Suite struct `A client identity` {
    static let authority = Result { try CertificateAuthority().intermediate() }
    static let client = Result { try authority.get().issue(.client("somebody")) }

    @Test func `a client identity is read from PEM in any order, in one text or two`() throws {
        let client = try Self.client.get()
        let key = try client.privateKeyPEM
        let texts: [(String, String?)] = [
            (client.chainPEM + key, nil), (key + client.chainPEM, nil), (client.chainPEM, key),
            (Self.reversed(client) + key, nil), ("a comment\n" + client.chainPEM + "\n\n" + key, nil),
        ]
        let keys = try Set(
            texts.map { try ClientIdentity(pem: Bytes($0.0), key: $0.1.map { Bytes($0) }).key })
        #expect(keys == [try client.fingerprint])
    }

    private static func reversed(_ client: IssuedCertificate) -> String {
        client.chainPEM.split(separator: "-----BEGIN").reversed().map { "-----BEGIN" + $0 }.joined()
    }

    @Test(arguments: [CertificateAuthority.Key.Kind.p256, .p384, .ed25519, .rsa2048])
    func `a client identity may have a key of any kind`(kind: CertificateAuthority.Key.Kind) throws {
        let client = try Self.authority.get().issue(.client("somebody").with(kind))
        let identity = try ClientIdentity(pem: Bytes(client.chainPEM + client.privateKeyPEM))
        let server = try Scene.server { $0.requiresCertificate = true }
        var pair = try Pair(TLSContext(), Scene.peer { $0.identity = identity }, server)
        #expect(try pair.run() == .open)
        #expect(pair.server.peerCertificate == client.der)
    }

    @Test func `an encrypted key is opened with its passphrase only`() throws {
        let client = try Self.client.get()
        let pem = Bytes(client.chainPEM + (try client.key.pem(passphrase: "open sesame")))
        #expect(try ClientIdentity(pem: pem, passphrase: "open sesame").key == client.fingerprint)
        #expect(throws: IdentityError.passphraseNeeded) { try ClientIdentity(pem: pem) }
        for wrong in ["open", "", String(repeating: "long", count: 1000)] {
            #expect(throws: IdentityError.wrongPassphrase) { try ClientIdentity(pem: pem, passphrase: wrong) }
        }
    }

    @Test func `a client identity is read from PKCS#12 with its passphrase only`() throws {
        let client = try Self.client.get()
        let file = try client.pkcs12(passphrase: "open sesame")
        #expect(try ClientIdentity(pkcs12: file, passphrase: "open sesame").key == client.fingerprint)
        #expect(throws: IdentityError.passphraseNeeded) { try ClientIdentity(pkcs12: file) }
        #expect(throws: IdentityError.wrongPassphrase) { try ClientIdentity(pkcs12: file, passphrase: "open") }
        let open = try client.pkcs12(passphrase: "")
        #expect(try ClientIdentity(pkcs12: open).key == client.fingerprint)
    }

    @Test func `a client identity that is incomplete or does not fit is refused`() throws {
        let client = try Self.client.get()
        let other = try Self.authority.get().issue(.client("somebody else"))
        let key = try client.privateKeyPEM
        #expect(throws: IdentityError.noCertificate) { try ClientIdentity(pem: Bytes(key)) }
        #expect(throws: IdentityError.noKey) { try ClientIdentity(pem: Bytes(client.chainPEM)) }
        #expect(throws: IdentityError.keyDoesNotFit) {
            try ClientIdentity(pem: Bytes(client.chainPEM), key: Bytes(other.privateKeyPEM))
        }
        #expect(throws: IdentityError.self) { try ClientIdentity(pem: "") }
        #expect(throws: IdentityError.self) { try ClientIdentity(pkcs12: "") }
        #expect(throws: IdentityError.self) { try ClientIdentity(pkcs12: "garbage") }
    }

    @Test func `a client identity that is cut anywhere is refused`() throws {
        let client = try Self.client.get()
        let file = try client.pkcs12(passphrase: "x")
        let pem = Bytes(client.chainPEM + (try client.privateKeyPEM))
        for end in stride(from: 0, to: file.count, by: 7) {
            #expect(throws: IdentityError.self) { try ClientIdentity(pkcs12: file[0..<end], passphrase: "x") }
        }
        for end in stride(from: 0, to: pem.count - 10, by: 7) {
            #expect(throws: IdentityError.self) { try ClientIdentity(pem: pem[0..<end]) }
        }
    }

    @Test func `a client identity's description shows nothing of its key`() throws {
        let identity = try Scene.identity()
        var text = ""
        dump(identity, to: &text)
        #expect("\(identity) \(String(reflecting: identity)) \(text)".count < 100)
    }

    @Test func `an identity in files is read again when they change and stays while they cannot be read`() throws {
        let folder = try Folder()
        let first = try Self.client.get()
        let second = try Self.authority.get().issue(.client("somebody"))
        let certificates = try folder.write(first.chainPEM, as: "client.pem")
        let key = try folder.write(first.privateKeyPEM, as: "key.pem")
        let files = try IdentityFiles(.pem(certificates: certificates, key: key))
        #expect(files.current().key == (try first.fingerprint))
        // One of the two is new, and the old identity still works.
        try folder.write(second.chainPEM, as: "client.pem", inPlace: true)
        #expect(files.current().key == (try first.fingerprint))
        #expect(files.failure == .keyDoesNotFit)
        try folder.write(second.privateKeyPEM, as: "key.pem", inPlace: true)
        #expect(files.current().key == (try second.fingerprint))
        #expect(files.failure == nil)
        unlink(key)
        #expect(files.current().key == (try second.fingerprint))
        #expect(files.failure == .cannotRead(path: key, "No such file or directory"))
        // Nobody writes to the pipe.
        mkfifo(key, 0o600)
        #expect(files.current().key == (try second.fingerprint))
        #expect(files.failure == .cannotRead(path: key, "it is not a regular file"))
        #expect(files.latest.key == (try second.fingerprint))
        #expect(throws: IdentityError.cannotRead(path: key, "it is not a regular file")) {
            try IdentityFiles(.pem(certificates: certificates, key: key), readsPipes: false)
        }
    }

    @Test(arguments: [
        ("/nowhere/client.p12", IdentityError.cannotRead(path: "/nowhere/client.p12", "No such file or directory")),
        ("/", .cannotRead(path: "/", "Is a directory")),
        ("/dev/zero", .tooLarge(path: "/dev/zero", limit: 4 * 1024 * 1024)),
    ])
    func `an identity in files that cannot be read is refused with the reason`(path: String, expected: IdentityError) {
        #expect(throws: expected) { try IdentityFiles(.pkcs12(path)) }
    }
}
