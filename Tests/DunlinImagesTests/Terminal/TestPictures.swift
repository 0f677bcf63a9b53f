import DunlinCodecs

/// Pictures to draw.
enum TestPicture {
    /// Colours that change everywhere, more than any palette has.
    static func gradient(_ width: Int, _ height: Int) -> ImageBuffer {
        make(width, height, isOpaque: true) { column, row in
            let (x, y) = (column * 255 / max(1, width - 1), row * 255 / max(1, height - 1))
            return [UInt8(x), UInt8(y), UInt8((x + 255 - y) / 2), 255]
        }
    }

    /// A disc that fades out at its edge, with nothing around it.
    static func disc(_ size: Int) -> ImageBuffer {
        make(size, size, isOpaque: false) { column, row in
            let (x, y) = (Double(column) - Double(size - 1) / 2, Double(row) - Double(size - 1) / 2)
            let edge = Double(size) / 2 - (x * x + y * y).squareRoot()
            return [220, UInt8(column * 255 / size), UInt8(row * 255 / size), UInt8(min(255, max(0, edge * 64)))]
        }
    }

    /// As many colours as are named, side by side.
    static func stripes(_ colors: [ImageBuffer.Pixel], height: Int) -> ImageBuffer {
        make(colors.count, height, isOpaque: false) { column, _ in
            [colors[column].red, colors[column].green, colors[column].blue, colors[column].alpha]
        }
    }

    static func make(
        _ width: Int, _ height: Int, isOpaque: Bool, _ pixel: (Int, Int) -> [UInt8]
    ) -> ImageBuffer {
        let pixels = (0..<height).flatMap { row in (0..<width).flatMap { pixel($0, row) } }
        guard let picture = ImageBuffer(width: width, height: height, pixels: pixels, isOpaque: isOpaque) else {
            preconditionFailure("a picture has pixels")
        }
        return picture
    }
}
