/// A line that is typed without echo. It knows bytes and signals, and nothing of terminals.
struct PasswordMachine {
    enum Event: Equatable {
        case byte(UInt8)
        case signal(Int32)
        /// The whole line.
        case line([UInt8])
    }

    private var line: [UInt8] = []

    /// The end: the line, or the signal that came instead; nil while it goes on.
    mutating func take(_ event: Event) -> Event? {
        guard case .byte(let byte) = event else { return event }
        switch byte {
        // The end of the input, and of the line.
        case 0x04, 0x0A, 0x0D: return .line(line)
        case 0x08, 0x7F: removeLast()
        case 0x15: line = []
        default: line.append(byte)
        }
        return nil
    }

    /// Removes a whole character, which may be several bytes.
    private mutating func removeLast() {
        while let byte = line.popLast(), byte & 0xC0 == 0x80 {}
    }
}
