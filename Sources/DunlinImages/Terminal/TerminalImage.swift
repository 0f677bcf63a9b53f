public import DunlinCodecs

/// Pictures on a terminal.
///
/// ```swift
/// let terminal = TerminalImage.Terminal.ask()
/// if let style = terminal.style() {
///     let drawing = try await TerminalImage.draw(picture, style, in: terminal.geometry)
///     DescriptorOutput(1).write(drawing.text)
/// }
/// ```
public enum TerminalImage {
    /// How pictures are sent to a terminal.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// Kitty's graphics protocol, which other terminals support too: all colours, and alpha.
        case kitty
        /// Six rows at a time, with up to 256 colours.
        case sixel
        /// Characters of two pixels, one above the other. Every terminal with colours and UTF-8 shows them.
        case blocks
    }

    /// The colours of block characters.
    public enum Colors: Sendable, Hashable {
        /// Eight bits each of red, green and blue.
        case full
        /// The 256 colours of xterm.
        case palette
    }

    /// How a picture is drawn.
    public struct Style: Sendable, Hashable {
        public var method: Method
        /// The colours of blocks.
        public var colors = Colors.full
        /// The number of colours of a sixel picture: 2 to 256.
        public var registers = 256
        /// Whether sixel mixes missing colours from available ones.
        public var dithers = true
        /// The colour behind the picture, if it is known; partly transparent pixels are mixed with it. Otherwise they
        /// are shown fully if they are at least half opaque, and not at all if less. Kitty mixes by itself.
        public var background: ImageBuffer.Pixel?
        /// The number of a kitty picture, which replaces an earlier picture with the same number, like the frames of an
        /// animation.
        public var number: UInt32?

        public init(_ method: Method) {
            self.method = method
        }
    }

    /// A picture in the form that is written to a terminal.
    public struct Drawing: Sendable, Hashable {
        /// The text to write. The cursor must be at the beginning of a line, and is afterwards at the beginning of the
        /// line below the picture.
        public let text: String
        /// The space that the picture takes, in characters.
        public let columns: Int
        public let rows: Int
        let method: Method

        /// The text to write before another drawing that replaces this one, if nothing else was written since.
        public var toItsBeginning: String { "\u{1B}[\(rows)A\r" }
        /// The text that removes the picture, if nothing else was written since. The cursor returns to where it began.
        public var erasure: String {
            toItsBeginning + (method == .kitty ? "\u{1B}_Ga=d,d=C,q=2\u{1B}\\" : "") + "\u{1B}[J"
        }
    }
}
