/// What a JSON body holds many of; the other clients know it too.
public struct Record: Sendable, Codable {
    public var id: Int
    public var name: String
    public var email: String
    public var score: Double
    public var isActive: Bool
    public var tags: [String]
    public var address: Address

    public struct Address: Sendable, Codable {
        public var street: String
        public var city: String
        public var zip: Int
    }
}

/// What forms hold.
public enum Form {
    /// As KeyValuePairs, an array or a string would have it: the order and the repeated name count.
    public static let pairs = [
        ("grant_type", "client_credentials"), ("scope", "read"), ("scope", "write"), ("name", "Ada Lovelace"),
        ("email", "ada@example.com"), ("city", "Zürich"), ("street", "Rämistrasse 101/3"),
        ("note", "50% off & more = fun?"), ("token", "dGhpcyBpcyBhIHRva2Vu+/=="), ("page", "12"),
    ]
    /// Before the file.
    public static let fields = [("title", "Waders"), ("album", "7")]
    public static let fileField = "photo"
    public static let fileName = "waders.jpg"
    public static let fileType = "image/jpeg"
}
