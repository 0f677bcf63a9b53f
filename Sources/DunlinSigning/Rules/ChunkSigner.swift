package import Dunlin

/// Frames the chunks of a body, each with a signature that continues the one before it; the first continues that of the
/// request. An empty chunk is the end.
package struct ChunkSigner: Sendable {
    private let key: HTTP.HMAC
    private let scope: SigningScope
    /// The signature that the next one continues.
    package private(set) var signature: String

    package init(key: HTTP.HMAC, scope: SigningScope, continuing seed: String) {
        self.key = key
        self.scope = scope
        signature = seed
    }

    package mutating func frame(_ chunk: Bytes) throws -> Bytes {
        let text = """
            AWS4-HMAC-SHA256-PAYLOAD
            \(scope.time)
            \(scope.text)
            \(signature)
            \(CanonicalRequest.noContent)
            \(try ContentDigest(.sha256, of: chunk).hex)
            """
        signature = try key.code(of: Bytes(text)).hex
        return Bytes(Array(Self.head(chunk.count, signature).utf8) + chunk.array + Array("\r\n".utf8))
    }

    private static func head(_ count: Int, _ signature: String) -> String {
        "\(String(count, radix: 16));chunk-signature=\(signature)\r\n"
    }

    /// The length of a body of `length` bytes, framed in chunks of `size`; nil if it is too large for a number.
    package static func framedLength(_ length: Int, size: Int) -> Int? {
        let frame = head(0, String(repeating: "0", count: 64)).utf8.count + 2
        func framed(_ count: Int) -> Int { String(count, radix: 16).utf8.count - 1 + frame + count }
        let (whole, rest) = length.quotientAndRemainder(dividingBy: size)
        let (chunks, overflow) = whole.multipliedReportingOverflow(by: framed(size))
        let end = (rest > 0 ? framed(rest) : 0) + framed(0)
        let (sum, spill) = chunks.addingReportingOverflow(end)
        return overflow || spill ? nil : sum
    }
}
