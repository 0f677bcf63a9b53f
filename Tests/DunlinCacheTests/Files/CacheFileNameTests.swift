import Testing

@testable import DunlinCache

@Suite struct `Names of a cache's files` {
    private static let key = String(repeating: "0123456789abcdef", count: 4)
    private static let number = "00000000000000ff"

    @Test func `a cache reads the names that it writes`() throws {
        let texts = ["\(Self.key)", "\(Self.key)-\(Self.number)", "new-\(Self.number)", "lock", "salt"]
        for text in texts.map({ "dunlin-cache-\(CacheFileName.version)-\($0)" }) {
            #expect(CacheFileName(text)?.text == text)
        }
        #expect(CacheFileName("dunlin-cache-\(CacheFileName.version)-new-\(Self.number)") == .temporary(255))
    }

    @Test(arguments: [
        "", "0", key.uppercased(), "\(key)0", String(key.dropLast()), "\(key.dropLast())\u{E9}",
        "\(key.dropLast(2))\r\n", "\(key.dropLast())\u{FF10}", "\(key)-", "\(key)-ff", "\(key)-00000000000000FF",
        "\(key)-000000000000000g", "\(key)-+0000000000000ff", "\(key)-000000000000000ff", "new-+0000000000000ff",
        "new-", "\(key.dropLast(16))\(number.dropLast())+", "\(key)-\(number)-\(number)",
    ])
    func `a file whose name only looks like a cache's is left alone`(rest: String) {
        #expect(CacheFileName("dunlin-cache-\(CacheFileName.version)-\(rest)") == nil)
    }
}
