import DunlinInflate
import DunlinTypes

/// What comes of compressed messages: their content, and the error that ended them.
struct MessageOutcome: Equatable, CustomStringConvertible {
    var messages: [[UInt8]] = []
    /// What came of the message that was not finished.
    var unfinished: [UInt8] = []
    var error: InflateError?

    init(_ messages: [[UInt8]], unfinished: [UInt8] = [], _ error: InflateError? = nil) {
        self.messages = messages
        self.unfinished = unfinished
        self.error = error
    }

    /// Each message is cut into pieces of `size` bytes.
    init(of wire: [[UInt8]], size: Int = .max, keepsContext: Bool = true, windowBits: Int = 15, limit: Int? = nil) {
        do throws(InflateError) {
            var inflater = try MessageInflater(windowBits: windowBits, keepsContext: keepsContext, limit: limit)
            for message in wire { try add(message, size, &inflater) }
        } catch {
            self.error = error
        }
    }

    private mutating func add(
        _ message: [UInt8], _ size: Int, _ inflater: inout MessageInflater
    ) throws(InflateError) {
        var rest = message[...]
        repeat {
            let piece = rest.prefix(size)
            rest = rest.dropFirst(size)
            inflater.feed(Bytes(Array(piece)), isLast: rest.isEmpty)
            while let output = try inflater.next() { unfinished += output }
        } while !rest.isEmpty
        messages.append(unfinished)
        unfinished = []
    }

    var description: String {
        "\(messages.map { $0.count }) and \(unfinished.count) bytes, \(error.map { "\($0)" } ?? "no error")"
    }
}
