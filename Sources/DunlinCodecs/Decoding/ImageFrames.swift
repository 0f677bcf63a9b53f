internal import DunlinTypes

/// One frame of an animation, composed with those before it.
public struct ImageFrame: Sendable {
    public let picture: ImageBuffer
    /// How long it is shown. A frame that says 10 milliseconds or less is shown for 100, as browsers do it: such files
    /// were made for programs that could be no quicker. Zero for a picture that stands still.
    public let duration: Duration
    /// From 0.
    public let index: Int

    /// What a file says, by the rule of `duration`.
    static func duration(milliseconds: Int) -> Duration {
        .milliseconds(milliseconds <= 10 ? 100 : milliseconds)
    }
}

/// The frames of a picture, decoded one by one as they are asked for.
///
/// Each iterator begins anew and keeps what it needs of the picture: one or two canvases. Every frame waits for its
/// turn in the decoder's queue; what an iterator keeps between frames is not counted there, so that an animation which
/// is being shown holds up nobody. Throws `ImageError`, after the frames that came before; and `CancellationError`.
public struct ImageFrames: AsyncSequence, Sendable {
    public typealias Element = ImageFrame

    let decoder: ImageDecoder
    let bytes: Bytes
    let options: ImageDecoder.Options

    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: FrameReader(decoder, bytes, options))
    }

    public struct Iterator: AsyncIteratorProtocol {
        let reader: FrameReader

        /// The next frame; nil after the last.
        public mutating func next() async throws -> ImageFrame? {
            let reader = reader
            return try await Work.away { try await reader.next() }
        }
    }
}
