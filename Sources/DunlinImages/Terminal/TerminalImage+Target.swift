public import DunlinCodecs
public import DunlinDisplay

extension TerminalImage {
    /// Shows images in one place of a terminal, each in place of the one before it: a target of an `ImageBinding`.
    ///
    /// Nothing else is to be written to that terminal meanwhile. Images are made ready and written one after the other,
    /// and one that comes while another is written takes the place of those that wait. There is one place, so that only
    /// slot `image` is shown.
    public final class Target: ImageTarget {
        private let images: AsyncStream<ImageBuffer?>.Continuation
        /// Ends with the target, once what was shown last is written.
        private let writing: Task<Void, Never>

        public init(
            on output: any DisplayOutput, _ style: Style, within bounds: Bounds = Bounds(), in geometry: Geometry
        ) {
            let (stream, images) = AsyncStream<ImageBuffer?>.makeStream(bufferingPolicy: .bufferingNewest(1))
            self.images = images
            writing = Task.detached {
                var last: Drawing?
                for await image in stream {
                    let (text, drawing) = await Self.text(for: image, after: last, style, bounds, geometry)
                    last = drawing
                    if !text.isEmpty { output.write(text) }
                }
            }
        }

        deinit { images.finish() }

        public func show(_ image: ImageBuffer?, in slot: ImageSlot = .image) {
            if slot == .image { images.yield(image) }
        }

        /// Waits until the newest image is written. Nothing is shown from then on.
        public func finish() async {
            images.finish()
            await writing.value
        }

        /// An image that cannot be drawn, because it is too large at the size that was asked for, is shown as none.
        private static func text(
            for image: ImageBuffer?, after last: Drawing?, _ style: Style, _ bounds: Bounds, _ geometry: Geometry
        ) async -> (text: String, drawing: Drawing?) {
            let erasure = last?.erasure ?? ""
            guard let image else { return (erasure, nil) }
            do {
                let drawing = try await draw(image, style, within: bounds, in: geometry)
                return (erasure + drawing.text, drawing)
            } catch {
                return (erasure, nil)
            }
        }
    }
}
