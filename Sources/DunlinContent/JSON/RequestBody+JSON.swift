extension RequestBody {
    /// The value as JSON. It is encoded now, so a value that cannot be encoded throws here. It is made before a session
    /// is asked, so the session's own `json` does not count: the argument `json:` of `post` and the others heeds it.
    ///
    /// ```swift
    /// try await client.post("users", body: .json(draft, .snakeCase), as: User.self)
    /// ```
    @_disfavoredOverload
    public static func json(_ value: some Encodable, _ json: HTTP.JSON = .standard) throws -> RequestBody {
        .bytes(try json.encode(value), contentType: "application/json")
    }

    /// JSON of any structure: `.json(["name": "Ada", "tags": [1, "x", nil]])`. Members keep their order and numbers
    /// their digits. Throws `NetworkError` with code `invalidParameters` for values that JSON cannot have.
    public static func json(_ value: DynamicValue, format: DynamicValue.JSONFormat = DynamicValue.JSONFormat()) throws
        -> RequestBody
    {
        .bytes(try value.json(format), contentType: "application/json")
    }
}
