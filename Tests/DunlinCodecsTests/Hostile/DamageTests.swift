import DunlinCodecs
import DunlinTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Damaged pictures` {
    /// The eight turned ones are the same picture.
    static let pictures = Pictures.all.filter { !$0.contains("turned") || $0.contains("turned6") }

    @Test(arguments: pictures)
    func `a picture cut off anywhere is a typed error, or what can be seen of it`(path: String) async throws {
        let bytes = try Pictures.bytes(path)
        var whole = 0
        for count in 0..<bytes.count {
            if try await isDecoded(bytes[0..<count]) { whole += 1 }
            guard count % 3 == 0 else { continue }
            _ = try await isDecoded(bytes[0..<count], .changed { $0.allowsTruncated = true })
        }
        // What lies behind the last pixel may be missing in some formats, and in others an icon's mask.
        #expect(whole <= bytes.count / 4)
        #expect(try await isDecoded(bytes))
    }

    @Test(arguments: pictures)
    func `a picture with any byte changed is a typed error, or a picture`(path: String) async throws {
        let bytes = try Pictures.bytes(path).array
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= index % 2 == 0 ? 0xFF : 1 << UInt8(index % 8)
            _ = try await isDecoded(Bytes(changed))
        }
    }

    /// Small limits keep what a changed size asks for small as well.
    private static let decoder = {
        var limits = ImageLimits()
        limits.pixels = 100_000
        return ImageDecoder(limits: limits, queue: DecodeQueue(decodes: 100, bytes: 1 << 30))
    }()

    private func isDecoded(_ bytes: Bytes, _ options: ImageDecoder.Options = .init()) async throws -> Bool {
        do {
            var count = 0
            for try await frame in Self.decoder.frames(of: bytes, options) {
                #expect(frame.picture.byteCount == frame.picture.size.pixels * 4)
                count += 1
            }
            return count > 0
        } catch is ImageError {
            return false
        }
    }

    @Test(arguments: [
        ("png/rgba.png", 600), ("jpeg/fine.jpg", 560), ("jpeg/progressive.jpg", 700), ("webp/tall.webp", 220),
        ("bmp/rgb24.bmp", 700),
    ])
    func `a truncated picture is shown as far as it came, if that is allowed`(path: String, count: Int) async throws {
        let bytes = try Pictures.bytes(path)
        let whole = try await ImageDecoder().decode(bytes)
        let part = bytes[0..<count]
        let info = try ImageDecoder().info(of: part)
        await #expect(throws: ImageError.truncated(info.format)) { try await ImageDecoder().decode(part) }
        let picture = try await ImageDecoder().decode(part, .changed { $0.allowsTruncated = true })
        #expect(picture.size == whole.size)
        // What is stored first has come: of a bitmap that is the last row.
        let row = path.hasPrefix("bmp") ? 11 : 0
        for x in 0..<whole.width where !path.hasPrefix("jpeg") { #expect(picture[x, row] == whole[x, row]) }
    }

    @Test(arguments: [("png/rgb.png", 40), ("jpeg/fine.jpg", 300), ("webp/lossless.webp", 22), ("gif/plain.gif", 70)])
    func `a picture without any pixels is an error even if truncated ones are allowed`(
        path: String, count: Int
    ) async throws {
        let bytes = try Pictures.bytes(path)[0..<count]
        await #expect(throws: ImageError.self) {
            try await ImageDecoder().decode(bytes, .changed { $0.allowsTruncated = true })
        }
    }

    @Test func `a GIF's last frame may be incomplete if that is allowed`() async throws {
        var file = GIFFile(width: 40, height: 40)
        file.frames = [GIFFile.Frame(width: 40, height: 40, indices: [1])]
        let bytes = file.bytes
        let part = bytes[0..<bytes.count / 2]
        await #expect(throws: ImageError.truncated(.gif)) { try await ImageDecoder().decode(part) }
        let options = ImageDecoder.Options.changed { $0.allowsTruncated = true }
        let picture = try await ImageDecoder().decode(part, options)
        #expect(picture[0, 0] == ImageBuffer.Pixel(0, 255, 0) && picture[39, 39].alpha == 0 && !picture.isOpaque)
        var frames = 0
        for try await frame in ImageDecoder().frames(of: part, options) {
            #expect(frame.picture.isExactly { picture[$0, $1] })
            frames += 1
        }
        #expect(frames == 1)
    }

    @Test func `the frames before an animation breaks off are returned`() async throws {
        var file = GIFFile(hasTrailer: false)
        file.frames = [GIFFile.Frame(), GIFFile.Frame(indices: [1]), GIFFile.Frame(indices: [2])]
        let bytes = file.bytes
        let cut = bytes[0..<bytes.count - 4]
        var count = 0
        await #expect(throws: ImageError.truncated(.gif)) {
            for try await _ in ImageDecoder().frames(of: cut) { count += 1 }
        }
        #expect(count == 2)
    }

    @Test func `a JPEG with a hundred scans too many is refused`() async throws {
        let bytes = try Pictures.bytes("jpeg/progressive.jpg").array
        // The first scan ends where the next marker stands.
        let start = try #require((0..<bytes.count - 1).first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
        let end = try #require((start + 2..<bytes.count - 1).first { bytes[$0] == 0xFF && bytes[$0 + 1] != 0 })
        func repeating(_ count: Int) -> Bytes {
            Bytes(
                Array(bytes[..<start]) + Array(repeatElement(bytes[start..<end], count: count).joined()) + bytes[end...]
            )
        }
        #expect(try await ImageDecoder().decode(repeating(20)).size == Pictures.size)
        await #expect(throws: ImageError.self) { try await ImageDecoder().decode(repeating(120)) }
    }

    /// Each scan passes over all of it, and takes a few bytes: 99 over 64 Mi pixels took six seconds, of 141 KB.
    @Test func `a large JPEG may have fewer scans`() async throws {
        func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
            [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
        }
        func picture(scans: Int) -> Bytes {
            let codes = [1] + [UInt8](repeating: 0, count: 15)
            let ofOnes = [UInt8](repeating: 1, count: 64)
            let blocks = 4096 / 8 * 4096 / 8
            // Each code of an end of blocks is one bit, and the count of 15 more: nearly 32,767 blocks.
            let text = String(repeating: "011111111111111", count: blocks / 32767 + 2)
            let bits = text + String(repeating: "1", count: (8 - text.utf8.count % 8) % 8)
            let ends = stride(from: 0, to: bits.utf8.count, by: 8).flatMap { start -> [UInt8] in
                let byte = UInt8(bits.dropFirst(start).prefix(8), radix: 2) ?? 0
                return byte == 0xFF ? [0xFF, 0x00] : [byte]
            }
            var bytes: [UInt8] = [0xFF, 0xD8] + segment(0xDB, [0] + ofOnes)
            bytes += segment(0xC2, [8, 0x10, 0, 0x10, 0, 1, 1, 0x11, 0])
            bytes += segment(0xC4, [0x00] + codes + [0x00]) + segment(0xC4, [0x10] + codes + [0xE0])
            bytes += segment(0xDA, [1, 1, 0, 0, 0, 0]) + [UInt8](repeating: 0, count: blocks / 8)
            for scan in 0..<scans { bytes += segment(0xDA, [1, 1, 0, 1, 0x3F, scan == 0 ? 0x01 : 0x10]) + ends }
            return Bytes(bytes + [0xFF, 0xD9])
        }
        #expect(try await ImageDecoder().decode(picture(scans: 8)).size.width == 4096)
        await #expect(throws: ImageError.self) { try await ImageDecoder().decode(picture(scans: 30)) }
    }

    @Test func `a small GIF with many large frames is refused before the first`() async throws {
        var file = GIFFile(width: 10_000, height: 6_000)
        file.frames = Array(repeating: GIFFile.Frame(width: 1, height: 1), count: 72)
        #expect(file.bytes.count < 2000)
        let error = ImageError.limitExceeded(.animationPixels, value: 72 * 60_000_000, limit: 4 << 30)
        await #expect(throws: error) { for try await _ in ImageDecoder().frames(of: file.bytes) {} }
    }

    @Test func `a WebP file that begins with no picture of its own is damaged`() async throws {
        // To libwebp this is a picture of one pixel without a container; the header of a larger one follows.
        let picture: [UInt8] = [0xD0, 1, 0, 0x9D, 1, 0x2A, 1, 0, 1, 0]
        let large: [UInt8] = Array("VP8 ".utf8) + [10, 0, 0, 0, 0x10, 0, 0, 0x9D, 1, 0x2A, 0xA0, 0x0F, 0xA0, 0x0F]
        let body = picture + [UInt8](repeating: 0, count: 4) + large
        let file = Array("RIFF".utf8) + [UInt8(body.count + 4), 0, 0, 0] + Array("WEBP".utf8) + body
        await #expect(throws: ImageError.self) { _ = try await ImageDecoder().decode(Bytes(file)) }
    }

    @Test(.timeLimit(.minutes(3))) func `many EXIF blocks with large counts are read quickly`() async throws {
        let block: [UInt8] = Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 0xFF, 0xFF]
        let segment: [UInt8] = [0xFF, 0xE1, 0, UInt8(block.count + 2)] + block
        var file: [UInt8] = [0xFF, 0xD8]
        for _ in 0..<100_000 { file += segment }
        #expect(throws: ImageError.self) { try ImageInfo(of: Bytes(file)) }
    }

    @Test func `frames larger than the canvas count with their own size`() async throws {
        var small = GIFFile()
        small.frames = [GIFFile.Frame()]
        var file = small.array
        let descriptor = try #require(file.firstIndex(of: 0x2C))
        file.replaceSubrange(descriptor + 5..<descriptor + 9, with: [0x60, 0xEA, 0x60, 0xEA])
        #expect(try ImageInfo(of: Bytes(file)).size == ImageSize(width: 4, height: 4))
        let refusal = await #expect(throws: ImageError.self) { _ = try await ImageDecoder().decode(Bytes(file)) }
        #expect(
            refusal?.description.contains("3599999984") == true || refusal?.description.contains("3600000000") == true)
    }
}
