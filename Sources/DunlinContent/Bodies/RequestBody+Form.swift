extension RequestBody {
    /// A form (`application/x-www-form-urlencoded`) of text pairs, in the given order and with repeated keys.
    public static func form(_ pairs: HTTP.Query) -> RequestBody {
        form(encoded: pairs.encoded)
    }

    /// A form of a dictionary's pairs, sorted by key.
    @_disfavoredOverload
    public static func form(_ pairs: [String: String]) -> RequestBody {
        form(HTTP.Query(pairs))
    }

    /// A form of parameters with any structure, in the given order unless `style` says otherwise.
    @_disfavoredOverload
    public static func form(_ parameters: HTTP.Parameters, style: HTTP.ParameterStyle = .given) throws -> RequestBody {
        form(encoded: try style.encoded(parameters))
    }

    /// A form of a value that encodes as an object.
    public static func form(
        encoding value: some Encodable, style: HTTP.ParameterStyle = .given
    ) throws -> RequestBody {
        try form(HTTP.Parameters(encoding: value), style: style)
    }

    /// A form of text that is encoded already.
    static func form(encoded text: String) -> RequestBody {
        .bytes(Bytes(text), contentType: "application/x-www-form-urlencoded")
    }
}
