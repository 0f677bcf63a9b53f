internal import CGIF
internal import DunlinTypes

/// The frames of a GIF, by giflib, as they are shown: each is a whole canvas.
struct GIFFrames: ~Copyable {
    enum Step {
        /// A frame has begun, or some rows of it were decoded.
        case more
        /// The frame is complete, and shown for so long.
        case frame(hundredths: Int)
        case end
    }

    private let decoder: OpaquePointer
    private(set) var canvas: GIFCanvas
    private var rows: GIFRows?
    private var indices: [UInt8] = []
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

    /// How long the frame is shown that is being decoded.
    var hundredths: Int { delay }
    var isInFrame: Bool { rows != nil }

    /// Decodes about so many rows more.
    mutating func step(_ input: Bytes, rows count: Int) throws(ImageError) -> Step {
        guard var rows else { return try begin(input) }
        let (decoder, width) = (decoder, UInt32(indices.count))
        // A frame may be much wider than what is seen of it.
        for _ in 0..<min(count, Work.rows(width: indices.count)) {
            guard let row = rows.next() else {
                self.rows = nil
                return .frame(hundredths: delay)
            }
            let status = input.withPointer { bytes, length in
                indices.withPointer { dunlin_gif_row(decoder, bytes, length, $0, width) }
            }
            _ = try check(status)
            canvas.draw(indices, row: row)
        }
        self.rows = rows
        return .more
    }

    private mutating func begin(_ input: Bytes) throws(ImageError) -> Step {
        var header = dunlin_gif_frame()
        let decoder = decoder
        guard try check(input.withPointer { dunlin_gif_next(decoder, $0, $1, &header) }) else { return .end }
        let palette = withUnsafeBytes(of: &header.palette) { Array($0.bindMemory(to: UInt32.self)) }
        var frame = GIFCanvas.Frame(
            left: Int(header.left), top: Int(header.top), width: Int(header.width), height: Int(header.height))
        frame.isInterlaced = header.is_interlaced
        frame.disposal = Int(header.disposal)
        frame.palette = palette
        canvas.begin(frame)
        delay = Int(header.delay)
        indices = [UInt8](repeating: 0, count: frame.width)
        guard frame.width > 0, frame.height > 0 else {
            // Such a frame shows nothing new, and still takes its time.
            _ = try check(input.withPointer { dunlin_gif_skip(decoder, $0, $1) })
            rows = GIFRows(height: 0, isInterlaced: false)
            return .more
        }
        rows = GIFRows(height: frame.height, isInterlaced: frame.isInterlaced)
        return .more
    }

    private func check(_ status: Int32) throws(ImageError) -> Bool {
        try CodecStatus.check(status, .gif, String(cString: dunlin_gif_message(decoder)))
    }
}

/// The first frame of a GIF as a picture that stands still.
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
