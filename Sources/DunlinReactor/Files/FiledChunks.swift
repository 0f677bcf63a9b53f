public import DunlinTypes

/// A body's chunks some of which lie in files: what sends them need not read those.
public protocol FiledChunks: AsyncSequence, Sendable where Element == Bytes, Failure == any Error {
    associatedtype Pieces: BodyPieces

    /// The same bytes, from the beginning.
    func makePieces() -> Pieces
}

/// One pass over a body in pieces. Nobody reads the chunks beside it.
public protocol BodyPieces {
    mutating func next() async throws -> BodyPiece?
    /// What to say when a file that `next` returned last could not be sent.
    func explained(_ error: NetworkError) -> NetworkError
}

public enum BodyPiece: Sendable {
    case bytes(Bytes)
    case file(FileSource)
}
