extension RequestSerializer: Codable {
    private enum Keys: String, CodingKey {
        case format, json, propertyList, style, methodsInURL
    }

    private enum FormatName: String, Codable {
        case form, json, propertyList
    }

    /// Throws for a serializer that holds closures.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        switch format {
        case .form:
            try container.encode(FormatName.form, forKey: .format)
        case .json(let format):
            try container.encode(FormatName.json, forKey: .format)
            try container.encode(format, forKey: .json)
        case .propertyList(let format):
            try container.encode(FormatName.propertyList, forKey: .format)
            try container.encode(format, forKey: .propertyList)
        case .custom: throw uncodable(container.codingPath)
        }
        if encodePairs != nil { throw uncodable(container.codingPath) }
        try container.encode(style, forKey: .style)
        try container.encode(methodsInURL.map(\.rawValue).sorted(), forKey: .methodsInURL)
    }

    private func uncodable(_ path: [any CodingKey]) -> EncodingError {
        let reason = "a request serializer with a closure cannot be encoded"
        return .invalidValue(self, .init(codingPath: path, debugDescription: reason))
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        let format: Format =
            switch try container.decode(FormatName.self, forKey: .format) {
            case .form: .form
            case .json: .json(try container.decode(DynamicValue.JSONFormat.self, forKey: .json))
            case .propertyList:
                .propertyList(try container.decode(RequestBody.PropertyListFormat.self, forKey: .propertyList))
            }
        self.init(format, style: try container.decode(HTTP.ParameterStyle.self, forKey: .style))
        methodsInURL = Set(try container.decode([String].self, forKey: .methodsInURL).map { HTTP.Method($0) })
    }
}
