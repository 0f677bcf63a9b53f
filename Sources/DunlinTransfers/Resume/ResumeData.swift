internal import DunlinSemantics

/// What is needed to go on with a download that was cancelled: its URL, the state of the file that was being sent, and
/// the part file that holds what came.
///
/// It goes on for the user who began alone, and where the same origin answers: another user, or another origin after
/// redirects, gets all of the file anew, whatever the validator says. Whoever the user is where a session's
/// authenticator or an interceptor says it, no other session is known to have the same.
///
/// It can be stored, and holds no secrets: of who asked there is a salted hash, user info is taken off the URL, and
/// request fields are kept only if neither their names nor their values look like secrets. A signed URL is its own
/// secret; set `url` to another one for the same file when it has expired.
public struct ResumeData: Sendable, Equatable {
    /// A range of bytes that has arrived, with its checksum.
    struct Piece: Sendable, Hashable {
        var range: Range<Int>
        /// The `Checksum` of what the part file holds there.
        var checksum: UInt64
    }

    /// The URL to ask for the rest. Another URL may lead to the same file; the server is asked whether it does.
    public var url: String
    public let method: HTTP.Method
    /// The request's own fields, as far as they may be kept.
    public let fields: Fields
    /// The server's validator of the file: an entity tag, or a date. Nil if it gave none that can be relied on; then
    /// the download starts over.
    public let validator: String?
    /// The length of the whole file, if the server said it.
    public let completeLength: Int?
    /// The path of the part file with the bytes that have arrived.
    public var partPath: String
    /// The pieces that have arrived: in order, without overlaps, none empty. Two that touch were brought by two
    /// exchanges.
    let pieces: [Piece]
    /// Whose bytes they are; nil where whoever made the data says that they may be gone on with.
    let source: ResumeSource?
    /// The names that nothing printed shows values of: those of the session that made or took the data. They are not
    /// stored, and make no difference between two values.
    private(set) var shown = ShownNames()

    struct ShownNames: Sendable, Equatable {
        var secret = HTTP.SecretFields.usual

        static func == (one: Self, other: Self) -> Bool { true }
    }

    /// How many bytes have arrived.
    public var byteCount: Int { pieces.reduce(0) { $0 + $1.range.count } }

    /// How many bytes have arrived without a gap from the beginning on.
    public var offset: Int {
        pieces.reduce(0) { $1.range.lowerBound == $0 ? $1.range.upperBound : $0 }
    }

    init(
        _ address: WebAddress, method: HTTP.Method = .get, fields: Fields = [:], validator: Validator?,
        completeLength: Int?, partPath: String, pieces: [Piece], source: ResumeSource? = nil,
        hiding secret: HTTP.SecretFields = .usual
    ) {
        url = address.description
        self.method = method
        self.fields = Self.kept(fields, hiding: secret)
        self.validator = validator?.description
        self.completeLength = completeLength
        self.partPath = partPath
        self.pieces = pieces
        self.source = source
        shown.secret = secret
    }

    /// Made of values from outside. Nil if they contradict each other, or are impossible.
    init?(
        url: String, method: HTTP.Method, fields: Fields, validator: String?, completeLength: Int?, partPath: String,
        pieces: [Piece], source: ResumeSource? = nil
    ) {
        guard let address = Self.address(url), Self.areInOrder(pieces, completeLength), !partPath.isEmpty,
            !partPath.utf8.contains(0), !method.rawValue.isEmpty
        else { return nil }
        let known = validator.map { Validator($0) }
        if case .some(nil) = known { return nil }
        self.init(
            address, method: method, fields: fields, validator: known ?? nil, completeLength: completeLength,
            partPath: partPath, pieces: pieces, source: source)
    }

    /// The data with other pieces, which are in order.
    func with(pieces: some Sequence<Piece>) -> ResumeData {
        ResumeData(copy: self, pieces: Array(pieces))
    }

    /// The data, which also hides what a session says is secret.
    func hiding(_ secret: HTTP.SecretFields) -> ResumeData {
        var data = self
        data.shown.secret = shown.secret.union(secret.more)
        return data
    }

    private init(copy other: ResumeData, pieces: [Piece]) {
        url = other.url
        method = other.method
        fields = other.fields
        validator = other.validator
        completeLength = other.completeLength
        partPath = other.partPath
        source = other.source
        shown = other.shown
        self.pieces = pieces
    }

    private static func address(_ url: String) -> WebAddress? {
        do throws(AddressError) {
            return try WebAddress(url)
        } catch {
            return nil
        }
    }

    private static func areInOrder(_ pieces: [Piece], _ completeLength: Int?) -> Bool {
        var end = 0
        for piece in pieces {
            guard piece.range.lowerBound >= end, !piece.range.isEmpty else { return false }
            end = piece.range.upperBound
        }
        return completeLength.map { $0 >= end } ?? true
    }
}

// MARK: - Secrets

extension ResumeData {
    /// The fields that may be stored on a disk, and matter when the rest is asked for. `secret` are those that a
    /// session says are, beside the usual ones.
    static func kept(_ fields: Fields, hiding secret: HTTP.SecretFields = .usual) -> Fields {
        fields.withoutSecrets(secret).filtered { name in
            !ofOneRequest.contains(name) && !name.hasPrefix("if-") && !name.hasPrefix("content-")
        }
    }

    private static let ofOneRequest: Set<String> = [
        "range", "accept-encoding", "host", "connection", "keep-alive", "transfer-encoding", "expect", "te", "trailer",
        "upgrade",
    ]
}

// MARK: - What is shown

extension ResumeData: CustomStringConvertible, CustomReflectable {
    /// What was asked for, and how much of it is where; the URL without the secrets of its query, by the names of the
    /// session that made or took the data.
    public var description: String {
        let size = completeLength.map { " of \($0)" } ?? ""
        return VisibleText.of("\(method) \(shownURL): \(byteCount)\(size) bytes in \(partPath)")
    }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "url": shownURL, "method": method, "fields": fields, "validator": validator as Any,
                "completeLength": completeLength as Any, "partPath": partPath, "byteCount": byteCount,
            ], displayStyle: .struct)
    }

    private var shownURL: String { WebAddress.named(url, hiding: shown.secret) }
}
