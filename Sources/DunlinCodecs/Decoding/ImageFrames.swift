internal import DunlinTypes

/// One frame of an animation, composed with those before it.
public struct ImageFrame: Sendable {
    public let picture: ImageBuffer
    /// How long the frame is shown. A frame of 10 milliseconds or less is shown for 100, as in browsers: such files
    /// were made for programs that could be no quicker. Zero for a still picture.
    public let duration: Duration
    /// The frame's position, from 0.
    public let index: Int

    /// Returns a file's duration, by the rule of `duration`.
    static func duration(milliseconds: Int) -> Duration {
        .milliseconds(milliseconds <= 10 ? 100 : milliseconds)
    }
}

/// The frames of a picture, decoded one by one as they are asked for.
///
/// Each iterator begins anew and keeps one or two canvases. Every frame waits for its turn in the decoder's queue; the
/// canvases kept between frames are not counted there, so that a shown animation delays nobody. Throws `ImageError`,
/// after the frames before it, and `CancellationError`.
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

        /// Returns the next frame; nil after the last.
        public mutating func next() async throws -> ImageFrame? {
            let reader = reader
            return try await Work.onDefaultPool { try await reader.next() }
        }
    }
}
