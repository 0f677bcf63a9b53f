import COpenSSL
import DunlinTesting
import DunlinTypes
import Folders
import LedgerRows
import Testing

@testable import DunlinSecure

@Suite(.timeLimit(.minutes(10))) struct `Stores of roots` {
    private let folder = Folder.unmade()

    @Test(.rows("AP-7")) func `the first bundle that is there counts, then the first folder`() throws {
        let one = try CertificateAuthority(), two = try CertificateAuthority()
        let first = try folder.write("# One\n\(one.pem)", as: "one.pem")
        let second = try folder.write("\(two.pem)\(one.pem)\(two.pem)", as: "two.pem")
        let load = { (files: [String], folders: [String]) in
            try SystemRoots(files: files, folders: folders).read().roots.map(\.der)
        }
        #expect(try load(["/nonexistent", first, second], []) == [one.certificate.der])
        #expect(try load([second], [folder.path]) == [two.certificate.der, one.certificate.der])
        #expect(try Set(load(["/nonexistent"], [folder.path])) == [one.certificate.der, two.certificate.der])
    }

    @Test(.rows("AP-7")) func `roots that the environment names count alone, and all of them`() throws {
        let one = try CertificateAuthority(), two = try CertificateAuthority()
        let file = try folder.write(one.pem, as: "one.pem")
        try folder.write(two.pem, as: "below/two.pem")
        let both = SystemRoots(certificateFile: file, certificateFolders: "\(folder.path)/below:/nonexistent")
        #expect(try both.read().roots.map(\.der) == [one.certificate.der, two.certificate.der])
        #expect(SystemRoots(certificateFile: file, certificateFolders: nil).folders.isEmpty)
        #expect(SystemRoots(certificateFile: "", certificateFolders: "").files.count > 1)
    }

    @Test func `a system without roots says where they were looked for`() throws {
        try folder.write("no certificate", as: "readme")
        let roots = SystemRoots(files: ["/nonexistent/a.pem"], folders: ["/nonexistent", folder.path])
        #expect(
            throws: NetworkError.TrustConfigurationError.noSystemRoots(lookedAt: [
                "/nonexistent/a.pem", "/nonexistent", folder.path,
            ])
        ) {
            try roots.read()
        }
    }

    @Test func `a store holds each root once, and its digest depends on nothing else`() throws {
        let one = try #require(CertificateAuthority().certificate.certificate)
        let two = try #require(CertificateAuthority().certificate.certificate)
        let stores = try [[one, two], [two, one, two], [one], []].map { try TrustStore($0) }
        #expect(stores.map(\.count) == [2, 2, 1, 0])
        #expect(stores[0].digest == stores[1].digest)
        #expect(Set(stores.map(\.digest)).count == 3)
    }

    @Test func `the evaluator's key holds everything that a decision depends on`() throws {
        let root = try #require(CertificateAuthority().certificate.certificate)
        let changes: [(inout TrustRules) -> Void] = [
            { _ in }, { $0.mode = .publicKey }, { $0.pins = .init(keys: [root.details.publicKey]) },
            { $0.pins = .init(certificates: [root]) }, { $0.position = .leaf }, { $0.requiresPins = true },
            { $0.allowsInvalid = true }, { $0.checksHost = false }, { $0.revocation.staple = .required },
            { $0.revocation.lists = ["x"] }, { $0.revocation.coversAuthorities = true },
            { $0.revocation.allowsMissingLists = true }, { $0.maximumIntermediates = 1 },
            { rules in HostPattern("a.test").map { rules.hosts[$0] = .init(keys: [root.details.publicKey]) } },
            { rules in HostPattern("*.a.test").map { rules.hosts[$0] = .init(keys: [root.details.publicKey]) } },
        ]
        var keys: Set<Certificate.Fingerprint> = []
        for roots in [[], [root]] {
            for change in changes {
                var rules = TrustRules()
                change(&rules)
                keys.insert(try TrustEvaluator(rules, roots: TrustStore(roots)).key)
                #expect(try keys.contains(TrustEvaluator(rules, roots: TrustStore(roots)).key))
            }
        }
        #expect(keys.count == 2 * changes.count)
    }

    @Test func `one evaluator decides on many threads at once`() async throws {
        let authority = try CertificateAuthority()
        let good = try authority.intermediate().issue(.server("api.test")).chain
        let bad = try CertificateAuthority().issue(.server("api.test")).chain
        let evaluator = try TrustEvaluator(
            TrustRules(), roots: TrustStore([#require(authority.certificate.certificate)]))
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask { @concurrent in
                    (0..<50).allSatisfy { _ in
                        Verdict(evaluator.decide(good, host: HostIdentity("api.test"))) == .accepted
                            && Verdict(evaluator.decide(bad, host: HostIdentity("api.test"))) != .accepted
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test func `decisions leave OpenSSL's error queue empty`() throws {
        let authority = try CertificateAuthority()
        for chain in [try authority.issue(.server("b.test").expired).chain, ["garbage"]] {
            _ = try decide(chain, roots: [authority.certificate.der], staple: "garbage") {
                $0.revocation.staple = .required
            }
            #expect(ERR_peek_error() == 0)
        }
    }
}
