internal import Dunlin
public import DunlinCodecs

extension TerminalImage {
    /// Makes the text that shows a picture on a terminal, shrinking the picture if necessary. The colours are the
    /// picture's samples, whatever its profile.
    ///
    /// It runs on the default pool. Throws `CancellationError` if the task is cancelled, and an `ImageError` for an
    /// impossible size.
    public static func draw(
        _ picture: ImageBuffer, _ style: Style, within bounds: Bounds = Bounds(), in geometry: Geometry
    ) async throws -> Drawing {
        let layout = Layout(of: picture.size, style.method, bounds, geometry)
        // Enlarged icons keep sharp edges.
        let filter = layout.pixels.width > picture.width * 2 ? ImageBuffer.Filter.nearest : .lanczos
        let resized = try await picture.resized(to: layout.pixels, filter: filter)
        let png = style.method == .kitty ? try await png(of: resized) : nil
        try Task.checkCancellation()
        return await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
            encode(resized, png, style, layout, geometry)
        }
    }

    private static func png(of picture: ImageBuffer) async throws -> Bytes {
        var encoder = ImageEncoder()
        encoder.pngLevel = 3
        encoder.keepsColorProfile = false
        return try await encoder.png(picture)
    }

    static func encode(
        _ picture: ImageBuffer, _ png: Bytes?, _ style: Style, _ layout: Layout, _ geometry: Geometry
    ) -> Drawing {
        let bytes: [UInt8]
        switch style.method {
        case .kitty:
            // If the size of a character is a guess, the terminal fits the picture into the reserved space.
            let cells = geometry.cell == nil ? (layout.columns, layout.rows) : nil
            let picture = KittyEncoder.encode(picture, png: png, cells: cells, number: style.number)
            bytes = placed(picture, rows: layout.rows)
        case .sixel: bytes = placed(SixelEncoder.encode(picture, style), rows: layout.rows)
        case .blocks: bytes = BlockEncoder.encode(picture, style)
        }
        return Drawing(
            text: String(decoding: bytes, as: UTF8.self), columns: layout.columns, rows: layout.rows,
            method: style.method)
    }

    /// Reserves space and positions the cursor. Terminals differ in where they leave the cursor after a picture, and in
    /// what they do on the lowest line, so space is made first, and the cursor is put back and then below.
    private static func placed(_ picture: [UInt8], rows: Int) -> [UInt8] {
        var output = [UInt8](repeating: 0x0A, count: rows)
        output += "\u{1B}[\(rows)A\r\u{1B}7".utf8
        output += picture
        output += "\u{1B}8\u{1B}[\(rows)B".utf8
        return output
    }
}
