import COpenSSL
import DunlinTesting
import DunlinTypes
import Folders
import Glibc
import Testing

@testable import DunlinSecure

@Suite(.timeLimit(.minutes(10))) struct `A TLS context` {
    @Test func `a TLS context writes secrets to a file only when it is told to`() throws {
        let folder = try Folder()
        let path = try folder.write("", as: "keys.log")
        #expect(try TLSContext().keyLog == nil)
        var settings = TLSSettings()
        settings.keyLogPath = path
        let context = try TLSContext(settings)
        #expect(context.keyLog != nil)
        var pair = try Pair(context, Scene.peer(), Scene.server())
        try pair.run()
        let text = try contents(of: path)
        #expect(text.split(separator: "\n").allSatisfy { $0.split(separator: " ").count == 3 })
        #expect(text.contains("CLIENT_TRAFFIC_SECRET_0 "))
        settings.keyLogPath = "/nowhere/keys.log"
        #expect(throws: TLSError.self) { try TLSContext(settings) }
    }

    @Test func `a TLS context makes a key log that only its owner can read`() throws {
        let folder = try Folder()
        let path = "\(folder.path)/keys.log"
        var settings = TLSSettings()
        settings.keyLogPath = path
        _ = try TLSContext(settings)
        var facts = stat()
        #expect(stat(path, &facts) == 0)
        #expect(facts.st_mode & 0o077 == 0)
    }

    private func contents(of path: String) throws -> String {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var block = [UInt8](repeating: 0, count: 65_536)
        return String(decoding: block[..<fread(&block, 1, block.count, file)], as: UTF8.self)
    }

    @Test func `a TLS context serves connections on several threads at once`() async throws {
        let context = try TLSContext()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask { @concurrent in
                    let server = try Scene.server()
                    var resumed = 0
                    for _ in 0..<50 {
                        var pair = try Pair(context, Scene.peer(), server)
                        guard try pair.run() == .open else { return -1000 }
                        try pair.send([1, 2, 3])
                        pair.server.send([4, 5, 6])
                        try pair.run()
                        if pair.engine.isResumed { resumed += 1 }
                        if pair.plaintext != [4, 5, 6] || pair.server.received != [1, 2, 3] { return -1000 }
                    }
                    return resumed
                }
            }
            for try await resumed in group { #expect(resumed >= 0) }
        }
    }

    @Test func `a TLS context prefers X25519, and takes the groups and ciphers it is told to`() throws {
        var settings = TLSSettings()
        settings.groups = KeyExchangeGroups.classical
        #expect(try group(settings) == NID_X25519)
        settings.groups = "P-384"
        #expect(try group(settings) == NID_secp384r1)
        settings.suites = "TLS_CHACHA20_POLY1305_SHA256"
        var pair = try Pair(TLSContext(settings), Scene.peer(), Scene.server())
        try pair.run()
        #expect(pair.engine.cipher == "TLS_CHACHA20_POLY1305_SHA256")
    }

    private func group(_ settings: TLSSettings) throws -> Int32 {
        var pair = try Pair(TLSContext(settings), Scene.peer(), Scene.server())
        try pair.run()
        return dunlin_negotiated_group(pair.server.ssl)
    }
}
