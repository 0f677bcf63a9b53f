public import DunlinTypes

/// The open file of a request's body, and the part of it that is to be sent. Opening it may wait for a disk.
public struct FileSource: Sendable {
    package let file: OpenFile
    package let range: Range<Int>

    public init(_ body: RequestBody.File) throws(NetworkError) {
        do throws(Errno) {
            file = try OpenFile(body.path)
        } catch {
            throw NetworkError(
                .fileUnreadable, "the file of the request's body, \(body.path), cannot be read", isSafeToRetry: true,
                underlying: error)
        }
        range = body.range ?? 0..<file.length
        guard range.lowerBound >= 0, range.upperBound <= file.length else {
            throw NetworkError(
                .bodyLengthMismatch,
                "the file of the request's body, \(body.path), has \(file.length) bytes, and bytes \(range) of it were "
                    + "to be sent",
                isSafeToRetry: true)
        }
    }

    /// The number of bytes to send.
    public var length: Int { range.count }

    /// Returns all bytes at once.
    public func bytes() throws -> Bytes {
        Bytes(try file.read(at: range.lowerBound, upTo: range.count))
    }
}

/// A file's bytes in chunks, for code that must see them.
public struct FileChunks: AsyncSequence, Sendable {
    let file: RequestBody.File

    public init(file: RequestBody.File) {
        self.file = file
    }

    public func makeAsyncIterator() -> Iterator { Iterator(file: file) }

    public struct Iterator: AsyncIteratorProtocol {
        let file: RequestBody.File
        private var source: FileSource?
        private var offset = 0

        init(file: RequestBody.File) {
            self.file = file
        }

        public mutating func next() async throws -> Bytes? {
            let source = try source ?? FileSource(file)
            if self.source == nil { (self.source, offset) = (source, source.range.lowerBound) }
            let piece = try source.file.read(at: offset, upTo: Swift.min(source.range.upperBound - offset, 256 * 1024))
            offset += piece.count
            return piece.isEmpty ? nil : Bytes(piece)
        }
    }
}
