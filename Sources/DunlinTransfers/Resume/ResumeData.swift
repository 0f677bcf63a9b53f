internal import DunlinSemantics

/// What is needed to go on with a download that was stopped: where it comes from, what state of it was being sent, and
/// what of it lies in a file.
///
/// A value to keep. It holds no secrets: user info is taken off the URL, and of the
/// request's fields only those are kept that neither carry credentials nor look like it. A signed URL is its own
/// secret; give `url` another one for the same file when it has expired.
public struct ResumeData: Sendable, Equatable {
    /// A run of bytes that has arrived, and what it looked like.
    struct Piece: Sendable, Hashable {
        var range: Range<Int>
        /// The `Checksum` of what the part file holds there.
        var checksum: UInt64
    }

    /// Where to ask for the rest. Another URL may lead to the same file; the server is asked whether it does.
    public var url: String
    public let method: HTTP.Method
    /// The request's own fields, as far as they may be kept.
    public let fields: Fields
    /// What the server called the state of the file: an entity tag, or a date. Nil: nothing that could be relied on,
    /// and the download begins anew.
    public let validator: String?
    /// How long the file will be, if the server said so.
    public let completeLength: Int?
    /// Where the bytes are that have arrived.
    public var partPath: String
    /// What of the file has arrived: in order, without overlaps, none empty. Two that touch were brought by two.
    let pieces: [Piece]

    /// How many bytes have arrived.
    public var byteCount: Int { pieces.reduce(0) { $0 + $1.range.count } }

    /// How many have arrived without a gap from the beginning on.
    public var offset: Int {
        pieces.reduce(0) { $1.range.lowerBound == $0 ? $1.range.upperBound : $0 }
    }

    init(
        _ address: WebAddress, method: HTTP.Method = .get, fields: Fields = [:], validator: Validator?,
        completeLength: Int?, partPath: String, pieces: [Piece]
    ) {
        url = address.description
        self.method = method
        self.fields = Self.kept(fields)
        self.validator = validator?.description
        self.completeLength = completeLength
        self.partPath = partPath
        self.pieces = pieces
    }

    /// Of somebody else's word. Nil if it contradicts itself, or cannot be.
    init?(
        url: String, method: HTTP.Method, fields: Fields, validator: String?, completeLength: Int?, partPath: String,
        pieces: [Piece]
    ) {
        guard let address = Self.address(url), Self.areInOrder(pieces, completeLength), !partPath.isEmpty,
            !partPath.utf8.contains(0), !method.rawValue.isEmpty
        else { return nil }
        let known = validator.map { Validator($0) }
        if case .some(nil) = known { return nil }
        self.init(
            address, method: method, fields: fields, validator: known ?? nil, completeLength: completeLength,
            partPath: partPath, pieces: pieces)
    }

    /// The same with other pieces, which are in order.
    func with(pieces: some Sequence<Piece>) -> ResumeData {
        ResumeData(copy: self, pieces: Array(pieces))
    }

    private init(copy other: ResumeData, pieces: [Piece]) {
        url = other.url
        method = other.method
        fields = other.fields
        validator = other.validator
        completeLength = other.completeLength
        partPath = other.partPath
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
    /// The fields that may lie on a disk, and mean something when the rest is asked for.
    static func kept(_ fields: Fields) -> Fields {
        fields.filtered(droppingSensitive: true) { name in
            !ofOneRequest.contains(name) && !name.hasPrefix("if-") && !name.hasPrefix("content-")
                && !HTTP.SecretFields.usual.mayContain(name)
        }
    }

    private static let ofOneRequest: Set<String> = [
        "range", "accept-encoding", "host", "connection", "keep-alive", "transfer-encoding", "expect", "te", "trailer",
        "upgrade",
    ]
}
