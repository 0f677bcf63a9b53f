import Dunlin
import DunlinInflate
import DunlinTypes
import Testing

@testable import DunlinSession

@Suite struct `Decoding of whole bodies` {
    private static let decoding = Decoding(HTTPSession.Limits())

    private static func response(_ plain: Int, _ codings: [ContentCodec]) throws -> TransportResponse {
        var body = [UInt8](repeating: 97, count: plain)
        for coding in codings {
            var encoder = try ContentEncoder(coding)
            body = encoder.encode(Bytes(body)).array + encoder.finish().array
        }
        let names = codings.map(\.name).joined(separator: ", ")
        return TransportResponse(
            head: ResponseHead(status: .ok, fields: ["Content-Encoding": names]), body: .bytes(Bytes(body)),
            trailers: ["X-Sum": "7"])
    }

    @Test(
        arguments: [0, 1, Decoding.inPlace, Decoding.inPlace + 1, 1 << 20],
        [[ContentCodec.gzip], [.deflate], [.gzip, .deflate], [.deflate, .gzip]])
    func `short content is decoded at once, and longer content as a stream`(count: Int, codings: [ContentCodec])
        async throws
    {
        let plain = try #require(try Self.decoding.apply(to: Self.response(count, codings)))
        switch plain.body {
        case .bytes(let bytes):
            #expect(count <= Decoding.inPlace)
            #expect(bytes.count == count)
            #expect(plain.trailers == ["X-Sum": "7"])
        case .stream(let stream):
            #expect(count > Decoding.inPlace)
            let bytes = try await stream.readAll { _ in }
            #expect(bytes.count == count && bytes.allSatisfy { $0 == 97 })
            #expect(stream.trailers == ["X-Sum": "7"])
            #expect(stream.hop.decodedBytes == count)
        }
    }

    /// The length at the end of a gzip body is what its writer says.
    @Test(arguments: [0, 0xFFFF_FFFF] as [UInt32])
    func `a gzip body that ends with a wrong length is refused`(length: UInt32) async throws {
        for count in [10, 1 << 20] {
            let honest = try Self.response(count, [.gzip])
            guard case .bytes(let coded) = honest.body else { return }
            let lie = coded.array.dropLast(4) + (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
            let response = TransportResponse(head: honest.head, body: .bytes(Bytes(Array(lie))))
            do {
                if case .stream(let stream) = try Self.decoding.apply(to: response)?.body {
                    _ = try await stream.readAll { _ in }
                }
                Issue.record("the length is wrong")
            } catch let error as NetworkError {
                #expect(error.code == .invalidContent)
            }
        }
    }
}
