public import FoundationEssentials

extension RequestBody {
    /// The value as JSON. Encoded now, so a value that cannot be encoded throws here.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> RequestBody {
        .bytes(Bytes(try encoder.encode(value)), contentType: "application/json")
    }
}
