public import DunlinCodecs
public import DunlinDisplay

extension TerminalImage {
    /// A target that shows images in one place of a terminal, each replacing the one before it.
    ///
    /// Nothing else may be written to that terminal meanwhile. Images are prepared and written one after another, and
    /// one that comes while another is being written replaces any that wait. There is only one place, so only the slot
    /// `image` is shown.
    public final class Target: ImageTarget {
        private let images: AsyncStream<ImageBuffer?>.Continuation
        /// The writing task, which ends with the target, after the last image is written.
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

        /// Waits until the newest image is written. Nothing is shown afterwards.
        public func finish() async {
            images.finish()
            await writing.value
        }

        /// The text of an image. One that is too large to draw at the requested size is shown as nothing.
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
