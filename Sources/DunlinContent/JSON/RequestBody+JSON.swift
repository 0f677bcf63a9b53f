extension RequestBody {
    /// A body of a value as JSON. The value is encoded now, so one that cannot be encoded throws here, and the
    /// session's `json` settings do not apply. The argument `json:` of `post` and the other methods does apply them.
    ///
    /// ```swift
    /// try await client.post("users", body: .json(draft, .snakeCase), as: User.self)
    /// ```
    @_disfavoredOverload
    public static func json(_ value: some Encodable, _ json: HTTP.JSON = .standard) throws -> RequestBody {
        .bytes(try json.encode(value), contentType: "application/json")
    }

    /// A body of JSON with any structure: `.json(["name": "Ada", "tags": [1, "x", nil]])`. Members keep their order and
    /// numbers their digits. Throws a `NetworkError` with code `invalidParameters` for values that JSON cannot
    /// represent.
    public static func json(_ value: DynamicValue, format: DynamicValue.JSONFormat = DynamicValue.JSONFormat()) throws
        -> RequestBody
    {
        .bytes(try value.json(format), contentType: "application/json")
    }
}
