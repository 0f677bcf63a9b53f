internal import DunlinTypes
internal import Synchronization

/// One coding's decoder, in a form that an array can hold.
protocol DecodingStep: AnyObject, Sendable {
    func feed(_ piece: Bytes)
    func next() throws(InflateError) -> DecodingOutcome
    func finish() throws(InflateError)
}

struct DecodingOutcome: Sendable {
    var piece: Bytes?
    /// Of this step, from its beginning.
    var consumed: Int
    var produced: Int
}

/// One coding's encoder.
protocol EncodingStep: AnyObject, Sendable {
    func encode(_ piece: Bytes, _ flush: EncodingFlush) -> Bytes
}

/// The lock is never contended, since a decoder has one owner. It is there because a library's state hangs on a
/// pointer, which the compiler lets travel between threads only with a guard: so a decoder is Sendable without a
/// promise that nobody checks, for one uncontended lock a piece.
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

/// The lock is for the same as a decoder's.
final class LockedEncoding<Engine: EncodingEngine & ~Copyable>: EncodingStep {
    private let engine: Mutex<Engine>
    /// How much room the engine is given at a time.
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
        // A room that was not filled means that there is nothing more to give.
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
