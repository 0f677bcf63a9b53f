public import FoundationEssentials

/// One part of a multipart form: a field, some data, a file, a stream.
///
/// ```swift
/// let album = try RequestBody.multipart {
///     MultipartPart.field("title", "Waders")
///     for photo in photos { MultipartPart.file("photo", at: photo) }
/// }
/// ```
///
/// Names and file names are sent in UTF-8; quotes and line breaks in them are escaped as browsers do it.
public struct MultipartPart: Sendable {
    enum Source: Sendable {
        case bytes(Bytes)
        /// A file by its path.
        case file(String)
        case stream(length: Int?, isReplayable: Bool, make: @Sendable () -> any RequestBody.Chunks)
        /// Why this is no part that can be sent; thrown once the form is made.
        case refused(NetworkError)
    }

    /// The part's name in errors.
    let name: String
    /// `Content-Disposition` first, then `Content-Type`, where the part has them.
    let fields: Fields
    let source: Source

    /// A field: a name and its text.
    public static func field(_ name: String, _ value: String) -> MultipartPart {
        MultipartPart(name: name, fields: PartFields.make(name), source: .bytes(Bytes(value)))
    }

    /// Bytes in memory, as a file with a file name, or without one as a field with a content type.
    public static func data(
        _ name: String, _ bytes: Bytes, fileName: String? = nil, contentType: HTTP.ContentType? = .octetStream
    ) -> MultipartPart {
        MultipartPart(name: name, fields: PartFields.make(name, fileName, contentType), source: .bytes(bytes))
    }

    /// A file. It is opened when its turn comes and closed when it has been sent; it is never in memory as a whole. The
    /// file name is by default the last part of the path; the content type is by default that of the file name.
    ///
    /// It must exist and be a regular file when the form is made, and have the same length when it is sent.
    public static func file(
        _ name: String, at path: String, fileName: String? = nil, contentType: HTTP.ContentType? = nil
    ) -> MultipartPart {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        let fileName = fileName ?? last
        let type = contentType ?? HTTP.ContentType(fileName: fileName)
        return MultipartPart(name: name, fields: PartFields.make(name, fileName, type), source: .file(path))
    }

    /// A file, by a file URL.
    public static func file(
        _ name: String, at url: URL, fileName: String? = nil, contentType: HTTP.ContentType? = nil
    ) -> MultipartPart {
        guard url.isFileURL else {
            let error = NetworkError(.invalidPart, "Expected URL to be a file URL")
            return MultipartPart(name: name, fields: [:], source: .refused(error))
        }
        return file(name, at: url.path, fileName: fileName, contentType: contentType)
    }

    /// A sequence of bytes, which `make` makes each time the form is sent.
    ///
    /// With a `length` it must have exactly that many bytes: a part that is shorter or longer fails the request.
    /// Without a length, the form is sent in chunks. If `make` cannot make the same bytes twice, say so: then the form
    /// is sent once only.
    public static func stream(
        _ name: String, length: Int? = nil, fileName: String? = nil, contentType: HTTP.ContentType? = .octetStream,
        isReplayable: Bool = true, make: @escaping @Sendable () -> any RequestBody.Chunks
    ) -> MultipartPart {
        MultipartPart(
            name: name, fields: PartFields.make(name, fileName, contentType),
            source: .stream(length: length, isReplayable: isReplayable, make: make))
    }

    /// Bytes with fields of your own, or with none.
    public static func custom(_ fields: Fields, _ bytes: Bytes) -> MultipartPart {
        let name = fields["Content-Disposition"] ?? "without a name"
        return MultipartPart(name: name, fields: fields, source: .bytes(bytes))
    }
}
