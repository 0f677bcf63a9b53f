internal import CGIF
internal import DunlinTypes

/// The frames of a GIF as shown: each is a whole canvas. giflib reads the file's blocks.
struct GIFFrames: ~Copyable {
    enum Step {
        /// A frame has begun, or some rows of it were decoded.
        case more
        /// The frame is complete; `hundredths` is how long it is shown.
        case frame(hundredths: Int)
        case end
    }

    /// The number of blocks in a step: 64 KiB of codes, which take a millisecond or less even if none gives a pixel.
    private static let blocksOfAStep = 256

    private let decoder: OpaquePointer
    private(set) var canvas: GIFCanvas
    /// The rows still to come; nil between two frames.
    private var rows: GIFRows?
    /// The row being filled; nil once all are complete, and the remaining blocks are skipped.
    private var row: Int?
    private var indices: [UInt8] = []
    private var filled = 0
    private var codes = GIFCodes()
    private var block = GIFBlock()
    private var hasAllBlocks = false
    private var delay = 0

    init(_ input: Bytes, _ info: ImageInfo, isTolerant: Bool) throws(ImageError) {
        var status: Int32 = 0
        let opened = input.withPointer { dunlin_gif_open($0, $1, &status) }
        guard let opened else {
            _ = try CodecStatus.check(status, .gif, "giflib does not accept it")
            throw .damaged(.gif, fault: "giflib does not accept it")
        }
        decoder = opened
        canvas = GIFCanvas(info.size, isTolerant: isTolerant)
    }

    deinit { dunlin_gif_close(decoder) }

    /// How long the current frame is shown.
    var hundredths: Int { delay }
    var isInFrame: Bool { rows != nil }

    /// Decodes about `count` more rows.
    mutating func step(_ input: Bytes, rows count: Int) throws(ImageError) -> Step {
        guard rows != nil else { return try begin(input) }
        // A frame may be much wider than the part that is seen, and have any number of codes that give no pixel.
        var (rowsLeft, blocksLeft) = (min(count, Work.rows(width: indices.count)), Self.blocksOfAStep)
        while rowsLeft > 0, blocksLeft > 0 {
            if try fillRow() {
                rowsLeft -= 1
            } else if hasAllBlocks {
                guard row == nil else { throw GIFCodes.tooSoon }
                rows = nil
                return .frame(hundredths: delay)
            } else {
                try readBlock(input)
                blocksLeft -= 1
            }
        }
        return .more
    }

    /// Fills a row. Returns false if it needs another block, or no row is left.
    private mutating func fillRow() throws(ImageError) -> Bool {
        guard let row else { return false }
        filled = try codes.fill(&indices, from: filled, &block)
        guard filled == indices.count else { return false }
        canvas.draw(indices, row: row)
        self.row = rows?.next()
        filled = 0
        return true
    }

    private mutating func readBlock(_ input: Bytes) throws(ImageError) {
        var length: UInt32 = 0
        let decoder = decoder
        let status = input.withPointer { bytes, count in
            block.bytes.withPointer { dunlin_gif_block(decoder, bytes, count, $0, &length) }
        }
        hasAllBlocks = try !check(status)
        block.begin(Int(length))
    }

    private mutating func begin(_ input: Bytes) throws(ImageError) -> Step {
        var header = dunlin_gif_frame()
        let decoder = decoder
        let status = input.withPointer { dunlin_gif_next(decoder, $0, $1, &header) }
        if CodecStatus(rawValue: status) == .paused { return .more }
        guard try check(status) else { return .end }
        let palette = withUnsafeBytes(of: &header.palette) { Array($0.bindMemory(to: UInt32.self)) }
        var frame = GIFCanvas.Frame(
            left: Int(header.left), top: Int(header.top), width: Int(header.width), height: Int(header.height))
        frame.isInterlaced = header.is_interlaced
        frame.disposal = Int(header.disposal)
        frame.palette = palette
        canvas.begin(frame)
        delay = Int(header.delay)
        try beginRows(frame, bits: Int(header.code_size))
        return .more
    }

    private mutating func beginRows(_ frame: GIFCanvas.Frame, bits: Int) throws(ImageError) {
        indices = [UInt8](repeating: 0, count: frame.width)
        (filled, hasAllBlocks) = (0, false)
        block.begin(0)
        // A frame without pixels shows nothing new, but still takes its time.
        let hasPixels = frame.width > 0 && frame.height > 0
        var rows = GIFRows(height: hasPixels ? frame.height : 0, isInterlaced: hasPixels && frame.isInterlaced)
        row = rows.next()
        self.rows = rows
        if !hasPixels { return }
        guard (1...8).contains(bits) else {
            throw .damaged(.gif, fault: "its LZW code size of \(bits) bits is invalid")
        }
        codes.begin(bits: bits)
    }

    private func check(_ status: Int32) throws(ImageError) -> Bool {
        try CodecStatus.check(status, .gif, String(cString: dunlin_gif_message(decoder)))
    }
}

/// Decodes the first frame of a GIF as a still picture.
struct GIFDecoder: RowDecoder, ~Copyable {
    private var frames: GIFFrames
    let hasAlpha: Bool
    var size: ImageSize { frames.canvas.size }
    var alpha: ImageBuffer.Alpha { .straight }
    var profile: Bytes? { nil }
    var hasOwnPixels: Bool { true }

    init(_ input: Bytes, _ info: ImageInfo, isTolerant: Bool) throws(ImageError) {
        frames = try GIFFrames(input, info, isTolerant: isTolerant)
        hasAlpha = info.hasAlpha
    }

    mutating func step(_ input: Bytes, _ pixels: inout [UInt8], rows: Int) throws(ImageError) -> Bool {
        do throws(ImageError) {
            switch try frames.step(input, rows: rows) {
            case .more: return true
            case .end: throw .truncated(.gif)
            case .frame: break
            }
        } catch {
            pixels = frames.canvas.pixels
            throw error
        }
        pixels = frames.canvas.pixels
        return false
    }
}
