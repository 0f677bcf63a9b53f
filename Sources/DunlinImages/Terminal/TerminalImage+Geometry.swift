public import DunlinCodecs

extension TerminalImage {
    /// The size of a terminal in characters, and of a character in pixels.
    public struct Geometry: Sendable, Hashable {
        public var columns: Int
        public var rows: Int
        /// The size of a character; nil if the terminal does not say, and then 8 x 16 is assumed.
        public var cell: ImageSize?

        public init(columns: Int = 80, rows: Int = 24, cell: ImageSize? = nil) {
            self.columns = columns
            self.rows = rows
            self.cell = cell
        }

        var knownCell: ImageSize { cell ?? ImageSize(width: 8, height: 16) }
    }

    /// The space that a picture may take, in characters. The picture keeps its shape.
    public struct Bounds: Sendable, Hashable {
        /// The number of columns; nil for all that there are, or fewer if the picture is smaller.
        public var columns: Int?
        public var rows: Int?

        public init(columns: Int? = nil, rows: Int? = nil) {
            self.columns = columns
            self.rows = rows
        }
    }

    /// The pixels that are sent, and the characters that they occupy.
    struct Layout: Hashable {
        let pixels: ImageSize
        let columns: Int
        let rows: Int

        /// Computes a layout. Rules: a picture is never enlarged unless the bounds say so, never wider than the
        /// terminal, and at least one line less high, so that the line before it stays visible. One pixel is one of the
        /// screen or, for blocks, half a character.
        init(of picture: ImageSize, _ method: Method, _ bounds: Bounds, _ geometry: Geometry) {
            let cell = geometry.knownCell
            let isBlocks = method == .blocks
            let high = Double(picture.height) / Double(picture.width)
            // Rows of characters for each column.
            let shape = high * Double(cell.width) / Double(cell.height)
            let natural = isBlocks ? Double(picture.width) : Double(picture.width) / Double(cell.width)
            let isAsked = bounds.columns != nil || bounds.rows != nil
            let widest = Double(max(1, min(bounds.columns ?? .max, geometry.columns)))
            let highest = Double(max(1, min(bounds.rows ?? .max, bounds.rows == nil ? geometry.rows - 1 : .max)))
            let columns = min(isAsked ? widest : min(natural, widest), highest / shape)
            let (unitWide, unitHigh) = isBlocks ? (1, 2) : (cell.width, cell.height)
            let size = ImageSize(
                width: Self.side(columns * Double(unitWide), (widest * Double(unitWide)).rounded(.down)),
                height: Self.side(columns * shape * Double(unitHigh), (highest * Double(unitHigh)).rounded(.down)))
            pixels = size
            self.columns = (size.width + unitWide - 1) / unitWide
            rows = (size.height + unitHigh - 1) / unitHigh
        }

        private static func side(_ length: Double, _ limit: Double) -> Int {
            Int(max(1, min(length.rounded(), limit, 1_000_000)))
        }
    }
}
