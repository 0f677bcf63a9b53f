extension RequestBody {
    /// A form (`application/x-www-form-urlencoded`) of pairs of text, in the order given, repeated keys included.
    public static func form(_ pairs: HTTP.Query) -> RequestBody {
        form(encoded: pairs.encoded)
    }

    /// A form of a dictionary, in the order of its keys.
    @_disfavoredOverload
    public static func form(_ pairs: [String: String]) -> RequestBody {
        form(HTTP.Query(pairs))
    }

    /// A form of parameters of any structure, in the order given unless `style` says otherwise.
    @_disfavoredOverload
    public static func form(_ parameters: HTTP.Parameters, style: HTTP.ParameterStyle = .given) throws -> RequestBody {
        form(encoded: try style.encoded(parameters))
    }

    /// A form of a value that is encoded as an object.
    public static func form(
        encoding value: some Encodable, style: HTTP.ParameterStyle = .given
    ) throws -> RequestBody {
        try form(HTTP.Parameters(encoding: value), style: style)
    }

    /// Text that is a form already.
    static func form(encoded text: String) -> RequestBody {
        .bytes(Bytes(text), contentType: "application/x-www-form-urlencoded")
    }
}
