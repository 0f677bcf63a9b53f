import COpenSSL
import DunlinTesting
import DunlinTypes
import Folders
import Testing

@testable import DunlinSecure

@Suite(.timeLimit(.minutes(10))) struct `Roots that are read when a chain asks for them` {
    typealias Authority = CertificateAuthority

    private let folder = Folder.unmade()

    private static func store(_ roots: [Bytes]) throws -> TrustStore {
        try TrustStore(roots.compactMap { TrustStore.Root(der: $0) })
    }

    /// OpenSSL sees what is wrong with it, and nobody else does: its key is of a kind that does not exist.
    private static func unreadable(_ der: Bytes) throws -> Bytes {
        var bytes = der.array
        let kind: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: kind) })
        bytes[start + kind.count - 1] = 0x7F
        return Bytes(bytes)
    }

    @Test func `only the roots that chains name are read, once each`() throws {
        let authorities = try (0..<20).map { try Authority(.authority("Root \($0)").with(Authority.Key())) }
        let store = try Self.store(authorities.map(\.certificate.der))
        let evaluator = try TrustEvaluator(TrustRules(), roots: store)
        #expect(store.readCount == 0)
        for (number, count) in [(7, 1), (7, 1), (3, 2)] {
            let leaf = try authorities[number].intermediate().issue(.server("api.test"))
            #expect(Verdict(evaluator.decide(leaf.chain, host: HostIdentity("api.test"))) == .accepted)
            #expect(store.readCount == count)
        }
        let stranger = try Authority(.authority("Stranger")).issue(.server("api.test"))
        let verdict = Verdict(evaluator.decide(stranger.chain, host: HostIdentity("api.test")))
        #expect(verdict == .refused(.unknownIssuer))
        #expect(store.readCount == 2)
    }

    /// Roots, and what a server sends.
    struct Scene: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let roots: [Bytes]
        let chain: [Bytes]
        /// How many of the roots the chain asks for.
        let asked: Int

        init(_ name: String, _ roots: [Authority], _ chain: [Bytes], asked: Int? = nil) {
            testDescription = name
            self.roots = roots.map(\.certificate.der)
            self.chain = chain
            self.asked = asked ?? roots.count
        }
    }

    private static func scenes() throws -> [Scene] {
        let key = try Authority.Key()
        let named = { (template: CertificateTemplate) in try Authority(template) }
        let top = try named(.authority("Top")), middle = try top.intermediate(.authority("Middle").with(key))
        let leaf = try middle.issue(.server("api.test"))
        let other = try named(.authority("Other").with(Authority.Key()))
        let late = try named(.authority("Middle").with(key).expired)
        let namesake = try named(.authority("Middle").with(Authority.Key()))
        let selfSigned = try named(.authority("Middle").with(key))
        let narrow = try named(.authority("Middle").with(key).excluding("api.test"))
        let crossed = try other.intermediate(.authority("Middle").with(key))
        let loud = try named(.authority(" MIDDLE ").with(key))
        return [
            Scene("the root", [top, other], leaf.chain, asked: 1),
            Scene("an intermediate as a root", [middle, other], leaf.withoutIntermediates.chain, asked: 1),
            Scene(
                "an intermediate as a root and its root", [top, middle, other], leaf.withoutIntermediates.chain,
                asked: 2),
            Scene("a root that others have signed", [crossed, other, top], leaf.chain),
            Scene("a root under several certificates", [crossed, selfSigned, middle, other, top], leaf.chain),
            Scene("one that is late first", [late, selfSigned, other], leaf.chain, asked: 2),
            Scene("one that is late last", [selfSigned, late, other], leaf.chain, asked: 2),
            Scene("others of its name", [namesake, narrow, selfSigned, other], leaf.chain, asked: 3),
            Scene("only others of its name", [namesake, narrow, late, other], leaf.chain, asked: 3),
            Scene("one that writes its name otherwise", [loud, other], leaf.chain, asked: 1),
            Scene("nobody it knows", [other], leaf.chain, asked: 0),
            Scene("the server's own certificate", [other], [other.certificate.der]),
        ]
    }

    @Test func `a decision with roots read on demand is the same as with all roots read before`() throws {
        for scene in try Self.scenes() {
            let asked = try Self.store(scene.roots), all = try Self.store(scene.roots)
            for root in scene.roots {
                if let parsed = ParsedCertificate(der: root) { all.read(for: parsed.pointer, sent: nil) }
            }
            #expect(all.readCount == scene.roots.count)
            let decisions = try [asked, all].map {
                try TrustEvaluator(TrustRules(), roots: $0).decide(scene.chain, host: HostIdentity("api.test"))
            }
            #expect(decisions[0] == decisions[1], "\(scene.testDescription)")
            #expect(asked.readCount == scene.asked, "\(scene.testDescription)")
        }
    }

    @Test func `a root is found by its name, whatever kind of string and letters it is written in`() throws {
        let key = try Authority.Key()
        let root = try Authority(.authority("The  ROOT ").with(key)).certificate.der
        let leaf = try Authority(.authority("the root").with(key)).issue(.server("api.test"))
        // As a PrintableString; nobody compares an anchor's signature.
        var printable = root.array
        let start = [0x06, 0x03, 0x55, 0x04, 0x03, 0x0C] as [UInt8]
        for index in printable.indices where printable[index...].starts(with: start) { printable[index + 5] = 0x13 }
        #expect(Bytes(printable) != root)
        for root in [root, Bytes(printable)] {
            #expect(Verdict(try decide(leaf.chain, roots: [root])) == .accepted)
        }
    }

    @Test func `a root that OpenSSL cannot read is left out, and those of its name count`() throws {
        let key = try Authority.Key()
        let root = try Authority(.authority("Root").with(key))
        let bad = try Self.unreadable(Authority(.authority("Root").with(Authority.Key())).certificate.der)
        let leaf = try root.issue(.server("api.test"))
        for roots in [[bad, root.certificate.der], [root.certificate.der, bad], [bad]] {
            let store = try Self.store(roots)
            #expect(store.count == roots.count)
            let decision = try TrustEvaluator(TrustRules(), roots: store)
                .decide(leaf.chain, host: HostIdentity("api.test"))
            #expect(Verdict(decision) == (roots.count == 2 ? .accepted : .refused(.unknownIssuer)))
            #expect(store.readCount == roots.count - 1)
            #expect(ERR_peek_error() == 0)
        }
    }

    @Test func `a bundle of which OpenSSL can read nothing is as good as not there`() throws {
        let good = try Authority(), other = try Authority()
        let bad = try Self.unreadable(other.certificate.der)
        let text = { (der: Bytes) in
            "-----BEGIN CERTIFICATE-----\n\(Base64.encode(der))\n-----END CERTIFICATE-----\n"
        }
        let none = try folder.write(text(bad) + text("garbage"), as: "none.pem")
        let mixed = try folder.write(text(bad) + good.pem + text("garbage"), as: "mixed.pem")
        #expect(throws: NetworkError.TrustConfigurationError.noSystemRoots(lookedAt: [none])) {
            try SystemRoots(files: [none], folders: []).read()
        }
        #expect(try SystemRoots(files: [none, mixed], folders: []).read().roots.map(\.der) == [good.certificate.der])
        let alone = "\(folder.path)/below"
        try folder.write(text(bad), as: "below/none.pem")
        #expect(throws: NetworkError.TrustConfigurationError.noSystemRoots(lookedAt: [alone])) {
            try SystemRoots(files: [], folders: [alone]).read()
        }
    }

    @Test func `blocks of other kinds, comments and any line ends are no matter to a bundle`() throws {
        let one = try Authority(), two = try Authority(), three = try Authority()
        let text =
            "# One\r\n" + one.pem.split(separator: "\n").joined(separator: "\r\n") + "\r\n\r\nTwo\r\n"
            + two.pem.replacing("CERTIFICATE", with: "TRUSTED CERTIFICATE")
            + three.pem.replacing("CERTIFICATE", with: "X509 CERTIFICATE") + one.pem
        let locations = SystemRoots(files: [try folder.write(text, as: "roots.pem")], folders: [])
        #expect(try locations.read().roots.map(\.der) == [one, three].map(\.certificate.der))
    }

    @Test func `roots are read once though many chains ask for them at once`() async throws {
        let authorities = try (0..<8).map { try Authority(.authority("Root \($0)").with(Authority.Key())) }
        let chains = try authorities.map { try $0.issue(.server("api.test")).chain }
        let store = try Self.store(authorities.map(\.certificate.der))
        // One evaluator each: what one remembers is not the other's.
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask { @concurrent in
                    let evaluator = try TrustEvaluator(TrustRules(), roots: store)
                    return chains.indices.allSatisfy {
                        let chain = chains[($0 + task) % chains.count]
                        return Verdict(evaluator.decide(chain, host: HostIdentity("api.test"))) == .accepted
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(store.readCount == 8)
    }
}
