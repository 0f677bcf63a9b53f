package import DunlinInflate
internal import DunlinReactor

extension RequestBody {
    /// The codings that can compress a request's body.
    public struct Compression: RawRepresentable, Sendable, Hashable {
        let codec: ContentCodec

        public static let gzip = Compression(known: .gzip)
        public static let deflate = Compression(known: .deflate)

        /// Creates a compression from its coding's name; nil if the coding is unknown or can only be decoded.
        public init?(rawValue: String) {
            guard let codec = ContentCodecs.known.all.first(where: { $0.name == rawValue }) else { return nil }
            self.init(codec)
        }

        /// Creates a compression; nil for a coding that can only be decoded.
        package init?(_ codec: ContentCodec) {
            guard codec.isEncodable else { return nil }
            self.codec = codec
        }

        private init(known codec: ContentCodec) {
            self.codec = codec
        }

        public var rawValue: String { codec.name }
    }

    /// Returns the body compressed, with its `Content-Encoding`. Few servers accept compressed requests.
    ///
    /// Bytes are compressed now, and sent with their new length. A stream or a file is compressed as it is sent,
    /// without a length; it stays replayable if it was. With `flushing`, each chunk of a stream is sent as it comes,
    /// for a peer that reads along; without it, the encoder collects bytes until sending is worthwhile.
    public func compressed(
        with compression: Compression = .gzip, flushing: Bool = false
    ) throws -> RequestBody {
        let coding = compression.codec
        let body: RequestBody
        switch content {
        case .none:
            return self
        case .bytes(let bytes):
            var encoder = try ContentEncoder(coding)
            var coded = encoder.encode(bytes).array
            coded += encoder.finish().array
            body = with(.bytes(Bytes(coded)))
        case .stream(_, let isReplayable, let make):
            body = with(
                .stream(length: nil, isReplayable: isReplayable) {
                    CompressedChunks(make(), coding, flushing: flushing)
                })
        case .file(let file):
            body = with(
                .stream(length: nil, isReplayable: true) {
                    CompressedChunks(FileChunks(file: file), coding, flushing: false)
                })
        }
        return body.with(contentEncoding: compression.rawValue)
    }
}

/// Chunks that are compressed on demand.
private struct CompressedChunks: AsyncSequence, Sendable {
    typealias Element = Bytes
    typealias Failure = any Error

    let chunks: any RequestBody.Chunks
    let coding: ContentCodec
    let flushing: Bool

    init(_ chunks: any RequestBody.Chunks, _ coding: ContentCodec, flushing: Bool) {
        self.chunks = chunks
        self.coding = coding
        self.flushing = flushing
    }

    func makeAsyncIterator() -> Iterator {
        Iterator(chunks, coding, flushing: flushing)
    }

    final class Iterator: AsyncIteratorProtocol {
        private var chunks: any AsyncIteratorProtocol<Bytes, any Error>
        /// The encoder; nil after the end.
        private var encoder: ContentEncoder?
        private let coding: ContentCodec
        private let flushing: Bool
        private var hasBegun = false

        init(_ chunks: any RequestBody.Chunks, _ coding: ContentCodec, flushing: Bool) {
            self.chunks = RequestBody.iterator(of: chunks)
            self.coding = coding
            self.flushing = flushing
        }

        func next() async throws -> Bytes? {
            if !hasBegun {
                hasBegun = true
                encoder = try ContentEncoder(coding)
            }
            while encoder != nil {
                guard let chunk = try await chunks.next(isolation: nil) else {
                    return encoder.take()?.finish()
                }
                if let coded = encode(chunk), !coded.isEmpty { return coded }
            }
            return nil
        }

        private func encode(_ chunk: Bytes) -> Bytes? {
            let coded = encoder?.encode(chunk)
            guard let coded, flushing, !chunk.isEmpty, let rest = encoder?.flush() else { return coded }
            return coded.isEmpty ? rest : Bytes(coded.array + rest.array)
        }
    }
}
