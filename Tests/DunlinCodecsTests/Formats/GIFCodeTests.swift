import DunlinTypes
import Foundation
import Glibc
import Testing

@testable import DunlinCodecs

/// The codes of a GIF's pixels, written by the rules of the format and read back, and those of hostile files.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `Codes of a GIF` {
    /// A picture of 256 greys with these codes, cut into blocks of some size.
    private static func gif(
        _ size: ImageSize, bits: Int, _ data: [UInt8], block: Int = 255, before: [UInt8] = []
    ) -> Bytes {
        let sides = GIFFile.little(size.width) + GIFFile.little(size.height)
        var bytes = Array("GIF89a".utf8) + sides + [0xF7, 0, 0]
        for grey in 0...255 as ClosedRange<UInt8> { bytes += [grey, grey, grey] }
        bytes += before + [0x2C, 0, 0, 0, 0] + sides + [0, UInt8(bits)]
        for start in stride(from: 0, to: data.count, by: block) {
            let part = data[start..<min(start + block, data.count)]
            bytes += [UInt8(part.count)] + part
        }
        return Bytes(bytes + [0, 0x3B])
    }

    /// Writes codes of growing length; of a full table it is cleared, or used as it is.
    private struct Writer {
        private let bits: Int
        private let clearsWhenFull: Bool
        private var width = 0
        private var next = 0
        private var table: [Int: Int] = [:]
        private var (buffer, count) = (0, 0)
        private var bytes: [UInt8] = []

        static func codes(of numbers: [UInt8], bits: Int, clearsWhenFull: Bool) -> [UInt8] {
            var writer = Writer(bits: bits, clearsWhenFull: clearsWhenFull)
            writer.clear()
            var prefix = Int(numbers[0])
            for number in numbers.dropFirst() {
                if let longer = writer.table[prefix << 8 | Int(number)] {
                    prefix = longer
                } else {
                    writer.write(prefix, then: number)
                    prefix = Int(number)
                }
            }
            writer.write(prefix, then: nil)
            writer.write(1 << bits + 1)
            return writer.count > 0 ? writer.bytes + [UInt8(writer.buffer)] : writer.bytes
        }

        private init(bits: Int, clearsWhenFull: Bool) {
            (self.bits, self.clearsWhenFull, width) = (bits, clearsWhenFull, bits + 1)
        }

        private mutating func clear() {
            write(1 << bits)
            (width, next, table) = (bits + 1, 1 << bits + 2, [:])
        }

        private mutating func write(_ code: Int, then number: UInt8?) {
            write(code)
            if next == 1 << width, width < 12 { width += 1 }
            guard next < 4096 else { return clearsWhenFull ? clear() : () }
            if let number { table[code << 8 | Int(number)] = next }
            next += 1
        }

        private mutating func write(_ code: Int) {
            buffer |= code << count
            count += width
            while count >= 8 {
                bytes.append(UInt8(buffer & 255))
                buffer >>= 8
                count -= 8
            }
        }
    }

    @Test(arguments: 1...8, [true, false])
    func `codes of any length are read as they were written`(bits: Int, clearsWhenFull: Bool) async throws {
        var number: UInt32 = 1
        let size = ImageSize(width: 211, height: 173)
        // Runs and noise by turns, so that strings get long and the table full.
        let numbers = (0..<size.pixels).map { index in
            if index / 4096 % 2 == 0 || index % 7 == 0 { number = number &* 1_664_525 &+ 1_013_904_223 }
            return UInt8(number >> 24) & UInt8(1 << bits - 1)
        }
        let data = Writer.codes(of: numbers, bits: bits, clearsWhenFull: clearsWhenFull)
        for block in [1, 7, 255] {
            let picture = try await ImageDecoder().decode(Self.gif(size, bits: bits, data, block: block))
            let isSame = numbers.indices.allSatisfy { picture.pixels[$0 * 4] == numbers[$0] }
            #expect(isSame, "blocks of \(block) bytes")
        }
    }

    /// Codes of three bits: 0 to 3 are numbers, 4 is a clear, 5 is the end.
    @Test(
        arguments: [
            ([4, 5], "its LZW data ends before all pixels are decoded"),
            ([4, 0, 5], "its LZW data ends before all pixels are decoded"),
            ([4, 6], "it has an invalid LZW code"), ([4, 0, 7], "it has an invalid LZW code"),
            ([4, 0], "its LZW data ends before all pixels are decoded"),
            ([], "its LZW data ends before all pixels are decoded"),
        ] as [([Int], String)])
    func `undefined codes and missing ones are an error`(codes: [Int], fault: String) async {
        var (buffer, data) = (0, [UInt8]())
        for (index, code) in codes.enumerated() { buffer |= code << (3 * index) }
        for _ in 0..<(codes.count * 3 + 7) / 8 {
            data.append(UInt8(buffer & 255))
            buffer >>= 8
        }
        let bytes = Self.gif(ImageSize(width: 2, height: 2), bits: 2, data)
        await #expect(throws: ImageError.damaged(.gif, fault: fault)) { try await ImageDecoder().decode(bytes) }
    }

    @Test func `data after the last pixel is skipped`() async throws {
        let data = Writer.codes(of: [1, 2, 3, 0], bits: 2, clearsWhenFull: true) + [UInt8](repeating: 255, count: 9999)
        let picture = try await ImageDecoder().decode(Self.gif(ImageSize(width: 2, height: 2), bits: 2, data))
        #expect([0, 4, 8, 12].map { picture.pixels[$0] } == [1, 2, 3, 0])
    }

    @Test(arguments: [0, 9, 255]) func `an impossible code length is an error`(bits: Int) async {
        let bytes = Self.gif(ImageSize(width: 1, height: 1), bits: bits, [1, 2, 3])
        await #expect(throws: ImageError.self) { try await ImageDecoder().decode(bytes) }
    }

    private static let clears: [UInt8] = (0..<1 << 20).map { [0x24, 0x49, 0x92][$0 % 3] }

    /// A million bytes before the first pixel: codes that give none, blocks without any, a comment, and many of them.
    private static let hostile: [(name: String, bytes: Bytes)] = [
        ("clear codes", gif(ImageSize(width: 1, height: 1), bits: 2, clears)),
        ("clear codes in small blocks", gif(ImageSize(width: 1, height: 1), bits: 2, clears, block: 1)),
        ("bytes behind the last pixel", gif(ImageSize(width: 1, height: 1), bits: 2, [0x04] + clears)),
        (
            "a long comment",
            gif(
                ImageSize(width: 1, height: 1), bits: 2, [0x04],
                before: [0x21, 0xFE] + clears.flatMap { [1, $0] } + [0])
        ),
        (
            "many comments",
            gif(
                ImageSize(width: 1, height: 1), bits: 2, [0x04],
                before: (0..<1 << 18).flatMap { _ in [0x21, 0xFE, 0] as [UInt8] })
        ),
    ]

    /// So that others get their turn, and a task that is cancelled ends.
    @Test(arguments: hostile.indices)
    func `codes without pixels are read in short steps`(index: Int) throws {
        let (name, bytes) = Self.hostile[index]
        var info = ImageInfo(.gif, ImageSize(width: 1, height: 1))
        info.frameCount = 1
        var frames = try GIFFrames(bytes, info, isTolerant: false)
        var (steps, longest) = (0, 0 as Int64)
        loop: while true {
            let start = Self.now()
            let step = try? frames.step(bytes, rows: 8)
            longest = max(longest, Self.now() - start)
            guard case .more = step else { break loop }
            steps += 1
        }
        #expect(steps >= 15, "\(name)")
        // Most of a second, where a megabyte was one step and each clear emptied a table.
        #expect(longest < 200_000_000, "\(name): \(longest) ns")
    }

    /// Of this thread alone, in nanoseconds.
    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    @Test func `a GIF of nothing but clear codes ends when its task is cancelled`() async throws {
        let clears = Array(repeatElement(Self.clears, count: 8).joined())
        let bytes = Self.gif(ImageSize(width: 1, height: 1), bits: 2, clears)
        let task = Task { try await ImageDecoder().decode(bytes) }
        // By a thread of its own: those of the pool may have other tests to run for as long as this one takes.
        Thread.detachNewThread { task.cancel() }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
