extension AWSSigner {
    /// How the body takes part in the signature.
    public enum Payload: Sendable, Hashable {
        /// The body is hashed before it is sent. A file is read twice; a stream that can be read once is kept in
        /// memory, up to 16 MiB.
        case signed
        /// The body is not in the signature. Over https nobody can change it on the way all the same.
        case unsigned
        /// Each chunk has a signature of its own, and the body is read once. The server must know `aws-chunked`, as S3
        /// does, and the body's length must be known. S3 wants at least 8 KiB in a chunk.
        case chunks(of: Int = 64 * 1024)
    }
}
