/// Writes a request's parameters as a query or a body.
///
/// ```swift
/// configuration.requestSerializer = .json
/// try await client.post("users", parameters: ["name": "Ada"], as: User.self)
/// try await client.post("login", parameters: ["user": "ada"], using: .form, as: Session.self)
/// ```
///
/// It is a value: later changes do not affect requests already made.
public struct RequestSerializer: Sendable {
    /// The format of parameters in a body.
    package enum Format: Sendable {
        /// `application/x-www-form-urlencoded`; without parameters, an empty form.
        case form
        /// `application/json`; without parameters, no body.
        case json(DynamicValue.JSONFormat)
        /// `application/x-plist`; without parameters, no body.
        case propertyList(RequestBody.PropertyListFormat)
        /// The body that the closure returns.
        case custom(@Sendable (HTTP.Parameters?) throws -> RequestBody)
    }

    package var format: Format
    /// The style of queries and forms.
    public var style: HTTP.ParameterStyle
    /// Writes parameters as the text of a query or form, instead of `style`. The text is used unchanged; a query with
    /// characters that a URL must not have is refused.
    public var encodePairs: (@Sendable (_ parameters: HTTP.Parameters, _ request: Context) throws -> String)?
    /// The methods whose parameters go into the URL unless the call says otherwise, in any case.
    public var methodsInURL: Set<HTTP.Method> = [.get, .head, .delete]

    package init(_ format: Format, style: HTTP.ParameterStyle = HTTP.ParameterStyle()) {
        self.format = format
        self.style = style
    }

    /// Writes parameters as a form in the body of methods that have one.
    public static let form = RequestSerializer(.form)
    public static let json = RequestSerializer(.json(DynamicValue.JSONFormat()))
    public static let propertyList = RequestSerializer(.propertyList(.xml))

    public static func form(_ style: HTTP.ParameterStyle) -> RequestSerializer {
        RequestSerializer(.form, style: style)
    }

    public static func json(_ format: DynamicValue.JSONFormat) -> RequestSerializer {
        RequestSerializer(.json(format))
    }

    public static func propertyList(_ format: RequestBody.PropertyListFormat) -> RequestSerializer {
        RequestSerializer(.propertyList(format))
    }

    public static func custom(_ make: @escaping @Sendable (HTTP.Parameters?) throws -> RequestBody) -> RequestSerializer
    {
        RequestSerializer(.custom(make))
    }
}

extension RequestSerializer {
    /// Where parameters go.
    public enum Location: Sendable, Hashable {
        /// Where the serializer puts them for the method.
        case automatic
        case url
        case body
    }

    /// The request that parameters are for.
    public struct Context: Sendable, Hashable {
        public let method: HTTP.Method
        public let target: HTTP.Target

        package init(method: HTTP.Method, target: HTTP.Target) {
            self.method = method
            self.target = target
        }
    }
}

extension RequestSerializer {
    /// What parameters add to a request.
    package struct Parts {
        package var query = HTTP.Query()
        package var body = RequestBody.none
    }

    package func parts(
        _ parameters: HTTP.Parameters?, for context: RequestSerializer.Context,
        in location: RequestSerializer.Location
    ) throws -> Parts {
        if goesInURL(context.method, location) {
            return Parts(query: try parameters.map { try query($0, context) } ?? HTTP.Query())
        }
        return Parts(body: try body(parameters, context))
    }

    private func goesInURL(_ method: HTTP.Method, _ location: RequestSerializer.Location) -> Bool {
        switch location {
        case .url: return true
        case .body: return false
        case .automatic:
            let name = method.rawValue.uppercased()
            return methodsInURL.contains { $0.rawValue.uppercased() == name }
        }
    }

    /// The parameters as a query. Text from a caller's encoder is checked; Dunlin's own need not be.
    private func query(
        _ parameters: HTTP.Parameters, _ context: RequestSerializer.Context
    ) throws -> HTTP.Query {
        guard let encodePairs else { return try HTTP.Query(parameters, style: style) }
        let text = try encodePairs(parameters, context)
        do throws(HTTP.QueryError) {
            return try HTTP.Query(encoded: text)
        } catch {
            throw NetworkError(.invalidParameters, "the serializer returned an invalid query", underlying: error)
        }
    }

    private func pairs(
        _ parameters: HTTP.Parameters, _ context: RequestSerializer.Context
    ) throws -> String {
        try encodePairs.map { try $0(parameters, context) } ?? style.encoded(parameters)
    }

    private func body(
        _ parameters: HTTP.Parameters?, _ context: RequestSerializer.Context
    ) throws -> RequestBody {
        switch format {
        case .form: .form(encoded: try parameters.map { try pairs($0, context) } ?? "")
        case .json(let format): try parameters.map { try .json(.object($0), format: format) } ?? .none
        case .propertyList(let format): try parameters.map { try .propertyList(.object($0), format) } ?? .none
        case .custom(let make): try make(parameters)
        }
    }
}
