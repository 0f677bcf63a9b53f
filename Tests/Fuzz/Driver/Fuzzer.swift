/// One subject of fuzzing: what must hold for every input.
public protocol Fuzzer: SendableMetatype {
    /// What an input violates, or nil.
    static func violation(of input: [UInt8]) -> String?
}
