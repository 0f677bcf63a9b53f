public import DunlinTypes

/// A body's chunks of which some are in files, which whoever sends them need not read.
public protocol FiledChunks: AsyncSequence, Sendable where Element == Bytes, Failure == any Error {
    associatedtype Pieces: BodyPieces

    /// The same bytes, from the beginning.
    func makePieces() -> Pieces
}

/// One pass over a body in pieces. Nobody reads its chunks meanwhile.
public protocol BodyPieces {
    mutating func next() async throws -> BodyPiece?
    /// The error to report when a file that `next` returned last could not be sent.
    func explained(_ error: NetworkError) -> NetworkError
}

public enum BodyPiece: Sendable {
    case bytes(Bytes)
    case file(FileSource)
}
