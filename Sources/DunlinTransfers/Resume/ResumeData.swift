internal import DunlinSemantics

/// What is needed to resume a cancelled download: its URL, the state of the file on the server, and the part file with
/// the bytes that came.
///
/// It resumes only for the same user and if the same origin answers. Another user, or another origin after redirects,
/// gets all of the file anew, whatever the validator says. If an authenticator or interceptor identifies the user, no
/// other session counts as the same user's.
///
/// It can be stored and contains no secrets: the user is a salted hash, the URL has no user info, and request fields
/// are kept only if neither their names nor their values look secret. A signed URL is its own secret; when it expires,
/// set `url` to another one for the same file.
public struct ResumeData: Sendable, Equatable {
    /// A range of bytes that has arrived, with its checksum.
    struct Piece: Sendable, Hashable {
        var range: Range<Int>
        /// The `Checksum` of these bytes in the part file.
        var checksum: UInt64
    }

    /// The URL to request the rest from. Another URL may lead to the same file; the server is asked whether it does.
    public var url: String
    public let method: HTTP.Method
    /// The request's own fields, except those that must not be kept.
    public let fields: Fields
    /// The server's validator of the file: an entity tag or a date. Nil if there was no reliable one; the download then
    /// starts over.
    public let validator: String?
    /// The length of the whole file; nil if the server has not said it.
    public let completeLength: Int?
    /// The path of the part file with the bytes that have arrived.
    public var partPath: String
    /// The pieces that have arrived: in order, without overlaps, none empty. Two adjacent pieces came by two exchanges.
    let pieces: [Piece]
    /// The source of the bytes; nil if whoever created the data vouches for them.
    let source: ResumeSource?
    /// The names that nothing printed shows values of: those of the session that made or took the data. They are not
    /// stored, and make no difference between two values.
    private(set) var shown = ShownNames()

    struct ShownNames: Sendable, Equatable {
        var secret = HTTP.SecretFields.usual

        static func == (one: Self, other: Self) -> Bool { true }
    }

    /// The number of bytes that have arrived.
    public var byteCount: Int { pieces.reduce(0) { $0 + $1.range.count } }

    /// The number of bytes that have arrived from the beginning on without a gap.
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

    /// Creates resume data from outside values; nil if they are impossible or contradict each other.
    init?(
        url: String, method: HTTP.Method, fields: Fields, validator: String?, completeLength: Int?, partPath: String,
        pieces: [Piece], source: ResumeSource? = nil
    ) {
        do throws(NetworkError) {
            try self.init(
                checking: url, method, fields, validator: validator, completeLength: completeLength, partPath: partPath,
                pieces: pieces, source: source)
        } catch {
            return nil
        }
    }

    /// Creates resume data from outside values. Throws `invalidResumeData` if they are impossible or contradict each
    /// other.
    init(
        checking url: String, _ method: HTTP.Method, _ fields: Fields, validator: String?, completeLength: Int?,
        partPath: String, pieces: [Piece], source: ResumeSource? = nil
    ) throws(NetworkError) {
        guard let address = Self.address(url) else {
            throw .invalidResumeData("its URL, \(WebAddress.named(url)), is not absolute, or not for http and https")
        }
        guard Self.areInOrder(pieces) else { throw .invalidResumeData("its pieces are empty, or not in order") }
        let end = pieces.last?.range.upperBound ?? 0
        if let completeLength, completeLength < end {
            throw .invalidResumeData("it has \(end) bytes, and its complete length is \(completeLength)")
        }
        guard !partPath.isEmpty, !partPath.utf8.contains(0) else {
            throw .invalidResumeData("the path of its part file is empty or has a zero byte")
        }
        guard !method.rawValue.isEmpty else { throw .invalidResumeData("it has no method") }
        let known = validator.map { Validator($0) }
        if case .some(nil) = known { throw .invalidResumeData("its validator is neither an entity tag nor a date") }
        self.init(
            address, method: method, fields: fields, validator: known ?? nil, completeLength: completeLength,
            partPath: partPath, pieces: pieces, source: source)
    }

    /// A copy with other pieces, which must be in order.
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

    private static func areInOrder(_ pieces: [Piece]) -> Bool {
        var end = 0
        for piece in pieces {
            guard piece.range.lowerBound >= end, !piece.range.isEmpty else { return false }
            end = piece.range.upperBound
        }
        return true
    }
}

// MARK: - Secrets

extension ResumeData {
    /// The fields that may be stored on disk and matter when the rest is requested. `secret` are a session's own secret
    /// names, in addition to the usual ones.
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
    /// What was requested, and how much of it is where; the URL is without its query's secrets.
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
