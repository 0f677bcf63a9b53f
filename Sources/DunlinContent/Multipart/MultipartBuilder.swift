/// Collects the parts of a form as they are written down.
@resultBuilder public enum MultipartBuilder {
    public static func buildExpression(_ part: Part) -> [Part] { [part] }
    public static func buildExpression(_ parts: [Part]) -> [Part] { parts }
    public static func buildBlock(_ groups: [Part]...) -> [Part] { groups.flatMap(\.self) }
    public static func buildArray(_ groups: [[Part]]) -> [Part] { groups.flatMap(\.self) }
    public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }
    public static func buildEither(first parts: [Part]) -> [Part] { parts }
    public static func buildEither(second parts: [Part]) -> [Part] { parts }
    public static func buildLimitedAvailability(_ parts: [Part]) -> [Part] { parts }
}
