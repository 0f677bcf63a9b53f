internal import DunlinTypes
public import FoundationEssentials

/// One part of a multipart form: a field, data, a file or a stream.
///
/// ```swift
/// let album = try RequestBody.multipart {
///     MultipartPart.field("title", "Waders")
///     for photo in photos { MultipartPart.file("photo", at: photo) }
/// }
/// ```
///
/// Names and file names are sent in UTF-8; quotes and line breaks in them are escaped as browsers do.
public struct MultipartPart: Sendable {
    enum Source: Sendable {
        case bytes(Bytes)
        /// A file, by its path.
        case file(String)
        case stream(length: Int?, isReplayable: Bool, make: @Sendable () -> any RequestBody.Chunks)
        /// Why the part cannot be sent; thrown when the form is made.
        case refused(NetworkError)
    }

    /// The part's name for errors.
    let name: String
    /// `Content-Disposition` first, then `Content-Type`, if the part has them.
    let fields: Fields
    let source: Source

    /// A field: a name and its text.
    public static func field(_ name: String, _ value: String) -> MultipartPart {
        MultipartPart(name: name, fields: PartFields.make(name), source: .bytes(Bytes(value)))
    }

    /// A part with bytes in memory: a file if it has a file name, otherwise a field with a content type.
    public static func data(
        _ name: String, _ bytes: Bytes, fileName: String? = nil, contentType: HTTP.ContentType? = .octetStream
    ) -> MultipartPart {
        MultipartPart(name: name, fields: PartFields.make(name, fileName, contentType), source: .bytes(bytes))
    }

    /// A part with a file. The file is opened when its turn comes, closed when it has been sent, and never wholly in
    /// memory. The file name defaults to the last component of the path, the content type to that of the file name.
    ///
    /// The file must exist and be regular when the form is made, and have the same length when it is sent.
    public static func file(
        _ name: String, at path: String, fileName: String? = nil, contentType: HTTP.ContentType? = nil
    ) -> MultipartPart {
        let last = path.parts(at: UInt8(ascii: "/")).last { !$0.isEmpty }.map(String.init) ?? path
        let fileName = fileName ?? last
        let type = contentType ?? HTTP.ContentType(fileName: fileName)
        return MultipartPart(name: name, fields: PartFields.make(name, fileName, type), source: .file(path))
    }

    /// A part with a file, by its file URL.
    public static func file(
        _ name: String, at url: URL, fileName: String? = nil, contentType: HTTP.ContentType? = nil
    ) -> MultipartPart {
        guard url.isFileURL else {
            let error = NetworkError(.invalidPart, "Expected URL to be a file URL")
            return MultipartPart(name: name, fields: [:], source: .refused(error))
        }
        return file(name, at: url.path, fileName: fileName, contentType: contentType)
    }

    /// A part with a sequence of bytes, which `make` creates each time the form is sent.
    ///
    /// With a `length`, the sequence must have exactly that many bytes, or the request fails. Without one, the form is
    /// sent in chunks. Say so if `make` cannot create the same bytes twice: the form is then sent only once.
    public static func stream(
        _ name: String, length: Int? = nil, fileName: String? = nil, contentType: HTTP.ContentType? = .octetStream,
        isReplayable: Bool = true, make: @escaping @Sendable () -> any RequestBody.Chunks
    ) -> MultipartPart {
        MultipartPart(
            name: name, fields: PartFields.make(name, fileName, contentType),
            source: .stream(length: length, isReplayable: isReplayable, make: make))
    }

    /// A part with bytes and fields of your own, or without fields.
    public static func custom(_ fields: Fields, _ bytes: Bytes) -> MultipartPart {
        let name = fields["Content-Disposition"] ?? "without a name"
        return MultipartPart(name: name, fields: fields, source: .bytes(bytes))
    }
}
