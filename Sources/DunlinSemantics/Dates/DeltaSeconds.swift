/// Reads a number of seconds in a field (RFC 9111 §1.2.2): digits and nothing else.
enum DeltaSeconds {
    /// Returns the seconds; nil if it is no number. An overlong number is a long time.
    static func value(of bytes: some Collection<UInt8>) -> Int64? {
        guard !bytes.isEmpty else { return nil }
        var number: Int64 = 0
        for byte in bytes {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (scaled, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, spill) = scaled.addingReportingOverflow(Int64(digit))
            number = overflow || spill ? .max : sum
        }
        return number
    }
}
