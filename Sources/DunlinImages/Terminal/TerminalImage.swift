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
    /// What a terminal is sent to show a picture.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// The graphics protocol of kitty, which others know too: every colour, and alpha.
        case kitty
        /// Six rows at a time, of up to 256 colours.
        case sixel
        /// Characters that are two pixels, one above the other. Every terminal with colours and UTF-8 shows them.
        case blocks
    }

    /// The colours of characters.
    public enum Colors: Sendable, Hashable {
        /// Eight bits each of red, green and blue.
        case full
        /// The 256 of xterm.
        case palette
    }

    /// How a picture is drawn.
    public struct Style: Sendable, Hashable {
        public var method: Method
        /// Of blocks.
        public var colors = Colors.full
        /// How many colours a picture has at a time in sixel: 2 to 256.
        public var registers = 256
        /// Whether sixel mixes the colours it has not got of those it has.
        public var dithers = true
        /// What lies behind the picture, should that be known; pixels that let some of it through are mixed with it.
        /// Otherwise they are shown in full if at least half of them is there, and not at all if it is less. Kitty
        /// mixes by itself.
        public var background: ImageBuffer.Pixel?
        /// Of kitty, which keeps what it was sent: a picture takes the place of the one before it with the same number,
        /// as the frames of an animation do.
        public var number: UInt32?

        public init(_ method: Method) {
            self.method = method
        }
    }

    /// A picture as it is written to a terminal.
    public struct Drawing: Sendable, Hashable {
        /// All that is to be written. The cursor is to be at the beginning of a line, and is at the beginning of the
        /// one below the picture afterwards.
        public let text: String
        /// How much room it takes, in characters.
        public let columns: Int
        public let rows: Int
        let method: Method

        /// To be written before another drawing that is to take the place of this one, if nothing else was written
        /// since.
        public var toItsBeginning: String { "\u{1B}[\(rows)A\r" }
        /// Removes it from the terminal, if nothing else was written since. The cursor is where it began.
        public var erasure: String {
            toItsBeginning + (method == .kitty ? "\u{1B}_Ga=d,d=C,q=2\u{1B}\\" : "") + "\u{1B}[J"
        }
    }
}
