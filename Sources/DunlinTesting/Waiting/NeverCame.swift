/// The error if `eventually`'s condition did not hold in time.
public struct NeverCame: Error, CustomStringConvertible {
    public let what: String
    /// The time limit.
    public let limit: Duration
    /// The place: `Module/File.swift` and the line.
    public let fileID: String
    public let line: Int

    public var description: String { "timed out after \(limit) waiting for: \(what) (\(fileID):\(line))" }
}
