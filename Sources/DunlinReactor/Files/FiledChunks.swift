public import DunlinTypes

/// A body's chunks, some of them in files that need not be read to send them.
public protocol FiledChunks: AsyncSequence, Sendable where Element == Bytes, Failure == any Error {
    associatedtype Pieces: BodyPieces

    /// Returns the same bytes in pieces, from the beginning.
    func makePieces() -> Pieces
}

/// One pass over a body in pieces. Nobody reads its chunks meanwhile.
public protocol BodyPieces {
    mutating func next() async throws -> BodyPiece?
    /// Returns the error to report when the last file that `next` returned could not be sent.
    func explained(_ error: NetworkError) -> NetworkError
}

public enum BodyPiece: Sendable {
    case bytes(Bytes)
    case file(FileSource)
}
