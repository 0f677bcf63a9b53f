internal import DunlinTypes
internal import Synchronization

/// The decoder of one coding, in a form that an array can hold.
protocol DecodingStep: AnyObject, Sendable {
    func feed(_ piece: Bytes)
    func next() throws(InflateError) -> DecodingOutcome
    func finish() throws(InflateError)
}

struct DecodingOutcome: Sendable {
    var piece: Bytes?
    /// The number of bytes that this step has consumed.
    var consumed: Int
    var produced: Int
}

/// The encoder of one coding.
protocol EncodingStep: AnyObject, Sendable {
    func encode(_ piece: Bytes, _ flush: EncodingFlush) -> Bytes
}

/// A decoder with a lock, which is never contended because the decoder has one owner. The library's state has a
/// pointer, which the compiler allows to move between threads only under a guard. So the decoder is Sendable without an
/// unchecked promise, at the cost of one uncontended lock for each piece.
final class LockedDecoding<Engine: DecodingEngine & ~Copyable>: DecodingStep {
    private let machine: Mutex<DecodingMachine<Engine>>

    init(_ limits: InflateLimits) throws(InflateError) {
        machine = Mutex(try DecodingMachine(limits: limits))
    }

    func feed(_ piece: Bytes) {
        machine.withLock { $0.feed(piece) }
    }

    func next() throws(InflateError) -> DecodingOutcome {
        try machine.withLock { machine throws(InflateError) in
            let piece = try machine.next()
            return DecodingOutcome(piece: piece, consumed: machine.consumed, produced: machine.produced)
        }
    }

    func finish() throws(InflateError) {
        try machine.withLock { machine throws(InflateError) in try machine.finish() }
    }
}

/// An encoder with a lock, for the same reason.
final class LockedEncoding<Engine: EncodingEngine & ~Copyable>: EncodingStep {
    private let engine: Mutex<Engine>
    /// The room that the engine is given at a time.
    private static var room: Int { 8 * 1024 }

    init(level: Int) throws(InflateError) {
        engine = Mutex(try Engine(level: level))
    }

    func encode(_ piece: Bytes, _ flush: EncodingFlush) -> Bytes {
        engine.withLock { Self.run(&$0, piece, flush) }
    }

    private static func run(_ engine: inout Engine, _ input: Bytes, _ flush: EncodingFlush) -> Bytes {
        var output: [UInt8] = []
        var offset = 0
        var isFull = true
        // If the room was not filled, nothing more is ready.
        while isFull || offset < input.count {
            output.append(addingCapacity: room) { span in
                span.withUnsafeMutableBufferPointer { buffer, count in
                    let progress = input.withUnsafeBytes { bytes in
                        engine.encode(
                            UnsafeRawBufferPointer(rebasing: bytes[offset...]),
                            into: UnsafeMutableBufferPointer(rebasing: buffer[count...]), flush)
                    }
                    offset += progress.consumed
                    count += progress.produced
                    isFull = progress.produced > 0 && count == buffer.count
                }
            }
        }
        return Bytes(output)
    }
}
