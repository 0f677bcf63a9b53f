extension MultipartPart {
    /// Collects the parts of a form from a block of code.
    @resultBuilder public enum Builder {
        public static func buildExpression(_ part: MultipartPart) -> [MultipartPart] { [part] }
        public static func buildExpression(_ parts: [MultipartPart]) -> [MultipartPart] { parts }
        public static func buildBlock(_ groups: [MultipartPart]...) -> [MultipartPart] { groups.flatMap(\.self) }
        public static func buildArray(_ groups: [[MultipartPart]]) -> [MultipartPart] { groups.flatMap(\.self) }
        public static func buildOptional(_ parts: [MultipartPart]?) -> [MultipartPart] { parts ?? [] }
        public static func buildEither(first parts: [MultipartPart]) -> [MultipartPart] { parts }
        public static func buildEither(second parts: [MultipartPart]) -> [MultipartPart] { parts }
        public static func buildLimitedAvailability(_ parts: [MultipartPart]) -> [MultipartPart] { parts }
    }
}
