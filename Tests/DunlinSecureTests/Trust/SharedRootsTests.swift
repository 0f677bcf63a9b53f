import DunlinTesting
import DunlinTypes
import Folders
import Synchronization
import Testing

@testable import DunlinSecure

@Suite(.timeLimit(.minutes(10))) struct `Roots that a process shares` {
    private let folder = Folder.unmade()
    private let clock = Time()

    /// Stands until it is moved.
    final class Time: Sendable {
        private let seconds = Atomic<Int>(0)

        var now: Duration { .seconds(seconds.load(ordering: .relaxed)) }

        func pass(_ count: Int = 1) { seconds.add(count, ordering: .relaxed) }
    }

    private func roots() -> SharedRoots {
        SharedRoots { [clock] in clock.now }
    }

    private func holds(_ store: TrustStore, _ authorities: CertificateAuthority...) throws -> Bool {
        let certificates = authorities.compactMap(\.certificate.certificate)
        return try store.digest == TrustStore(certificates).digest
    }

    @Test func `shared roots are read once, however many ask and however much later`() throws {
        let authority = try CertificateAuthority()
        let locations = SystemRoots(files: [try folder.write(authority.pem, as: "roots.pem")], folders: [])
        let roots = roots()
        let first = try roots.store(of: locations)
        for _ in 0..<10 {
            clock.pass()
            #expect(try roots.store(of: locations) === first)
            #expect(try roots.store(of: locations, looks: true) === first)
        }
        #expect(roots.loads(of: locations) == 1)
    }

    @Test func `shared roots are read once by many that ask at the same time`() async throws {
        var text = ""
        for number in 0..<20 { text += try CertificateAuthority(.authority("Root \(number)")).pem }
        let locations = SystemRoots(files: [try folder.write(text, as: "roots.pem")], folders: [])
        let roots = roots()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask { @concurrent in try roots.store(of: locations).count }
            }
            for try await count in group { #expect(count == 20) }
        }
        #expect(roots.loads(of: locations) == 1)
    }

    @Test func `shared roots are read again when a file changes, looked at once a second`() throws {
        let one = try CertificateAuthority(), two = try CertificateAuthority()
        let path = try folder.write(one.pem, as: "roots.pem")
        let locations = SystemRoots(files: ["/nonexistent/roots.pem", path], folders: [])
        let roots = roots()
        let first = try roots.store(of: locations)
        try folder.write(one.pem + two.pem, as: "roots.pem", inPlace: true)
        #expect(try roots.store(of: locations) === first)
        clock.pass()
        #expect(try holds(roots.store(of: locations), one, two))
        // A root that is believed no longer is gone, and at once where somebody wants to know.
        try folder.write(two.pem, as: "roots.pem", inPlace: true)
        #expect(try holds(roots.store(of: locations, looks: true), two))
        #expect(roots.loads(of: locations) == 3)
    }

    @Test func `shared roots are those of a file that appears before the one that was read`() throws {
        let one = try CertificateAuthority(), two = try CertificateAuthority()
        let locations = SystemRoots(
            files: ["\(folder.path)/first.pem", try folder.write(one.pem, as: "second.pem")], folders: [])
        let roots = roots()
        #expect(try holds(roots.store(of: locations), one))
        try folder.write(two.pem, as: "first.pem")
        clock.pass()
        #expect(try holds(roots.store(of: locations), two))
    }

    @Test func `shared roots change with a folder's files: added, removed and written in place`() throws {
        let one = try CertificateAuthority(), two = try CertificateAuthority(), three = try CertificateAuthority()
        try folder.write(one.pem, as: "below/one.pem")
        let locations = SystemRoots(certificateFile: nil, certificateFolders: "\(folder.path)/below")
        let roots = roots()
        #expect(try holds(roots.store(of: locations), one))
        try folder.write(two.pem, as: "below/two.pem")
        clock.pass()
        #expect(try holds(roots.store(of: locations), one, two))
        try folder.write(three.pem + "\n", as: "below/two.pem", inPlace: true)
        clock.pass()
        #expect(try holds(roots.store(of: locations), one, three))
        try folder.remove("below/one.pem")
        clock.pass()
        #expect(try holds(roots.store(of: locations), three))
    }

    @Test func `shared roots stay the same store where a file is new and holds what it held`() throws {
        let authority = try CertificateAuthority()
        let locations = SystemRoots(files: [try folder.write(authority.pem, as: "roots.pem")], folders: [])
        let roots = roots()
        let first = try roots.store(of: locations)
        try folder.write("# As before\n\(authority.pem)", as: "roots.pem", inPlace: true)
        clock.pass()
        #expect(try roots.store(of: locations) === first)
        #expect(roots.loads(of: locations) == 2)
    }

    @Test func `shared roots stay while nothing can be read, and nothing is read over and over`() throws {
        let one = try CertificateAuthority(), two = try CertificateAuthority()
        let locations = SystemRoots(files: [try folder.write(one.pem, as: "roots.pem")], folders: [])
        let roots = roots()
        let first = try roots.store(of: locations)
        for text in ["", "-----BEGIN CERTIFICATE-----\nMIIB"] {
            try folder.write(text, as: "roots.pem", inPlace: true)
            clock.pass()
            #expect(try roots.store(of: locations) === first)
            let loads = roots.loads(of: locations)
            clock.pass()
            #expect(try roots.store(of: locations) === first)
            #expect(roots.loads(of: locations) == loads)
        }
        try folder.write(two.pem, as: "roots.pem", inPlace: true)
        clock.pass()
        #expect(try holds(roots.store(of: locations), two))
    }

    @Test func `shared roots that are not there are looked for each time`() throws {
        let locations = SystemRoots(files: ["\(folder.path)/roots.pem"], folders: [])
        let roots = roots()
        #expect(throws: NetworkError.TrustConfigurationError.self) { try roots.store(of: locations) }
        let authority = try CertificateAuthority()
        try folder.write(authority.pem, as: "roots.pem")
        #expect(try holds(roots.store(of: locations), authority))
    }

    @Test func `shared roots of many locations are not all remembered`() throws {
        let authority = try CertificateAuthority()
        let roots = roots()
        var all: [SystemRoots] = []
        for number in 0..<20 {
            all.append(SystemRoots(files: [try folder.write(authority.pem, as: "\(number).pem")], folders: []))
            _ = try roots.store(of: all[number])
            clock.pass()
        }
        #expect(all.filter { roots.loads(of: $0) > 0 }.count == 8)
    }
}
