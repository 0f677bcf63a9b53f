internal import DunlinTypes
internal import FoundationEssentials

extension HTTP.ContentType {
    /// Creates the content type for a file name's extension: from the common types, then the system's
    /// `/etc/mime.types`; otherwise `application/octet-stream`.
    public init(fileName: String) {
        let name = fileName.parts(at: UInt8(ascii: "/")).last { !$0.isEmpty } ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else {
            self = .octetStream
            return
        }
        let suffix = name[name.index(after: dot)...].lowercased()
        self.init(Self.known[suffix] ?? Self.ofSystem[suffix] ?? HTTP.ContentType.octetStream.rawValue)
    }

    /// The system's types by extension, read when first needed; empty if the file does not exist.
    private static let ofSystem: [String: String] = {
        do {
            return table(String(decoding: try Data(contentsOf: URL(filePath: "/etc/mime.types")), as: UTF8.self))
        } catch {
            return [:]
        }
    }()

    /// Parses lines of a type and its extensions; the first type for an extension counts.
    static func table(_ text: String) -> [String: String] {
        var table: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            guard let type = words.first, type.contains("/"), type.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else {
                continue
            }
            for suffix in words.dropFirst() where table[suffix.lowercased()] == nil {
                table[suffix.lowercased()] = String(type)
            }
        }
        return table
    }

    private static let known: [String: String] = table(
        """
        application/gzip gz tgz
        application/java-archive jar
        application/json json map
        application/manifest+json webmanifest
        application/msword doc
        application/octet-stream bin exe dll iso img dmg deb
        application/pdf pdf
        application/pkcs8 p8
        application/postscript ps eps ai
        application/rtf rtf
        application/sql sql
        application/vnd.android.package-archive apk
        application/vnd.ms-excel xls
        application/vnd.ms-powerpoint ppt
        application/vnd.oasis.opendocument.presentation odp
        application/vnd.oasis.opendocument.spreadsheet ods
        application/vnd.oasis.opendocument.text odt
        application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
        application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
        application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
        application/vnd.rar rar
        application/wasm wasm
        application/x-7z-compressed 7z
        application/x-bzip2 bz2
        application/x-pem-file pem
        application/x-pkcs12 p12 pfx
        application/x-plist plist
        application/x-sh sh
        application/x-tar tar
        application/x-x509-ca-cert cer crt der
        application/x-xz xz
        application/xhtml+xml xhtml
        application/xml xml xsd xsl
        application/yaml yaml yml
        application/zip zip
        application/zstd zst
        audio/aac aac
        audio/flac flac
        audio/mp4 m4a
        audio/mpeg mp3
        audio/ogg oga ogg opus
        audio/wav wav
        audio/webm weba
        font/otf otf
        font/ttf ttf
        font/woff woff
        font/woff2 woff2
        image/avif avif
        image/bmp bmp
        image/gif gif
        image/heic heic
        image/heif heif
        image/jpeg jpg jpeg jpe
        image/png png
        image/svg+xml svg
        image/tiff tif tiff
        image/vnd.microsoft.icon ico
        image/webp webp
        text/calendar ics
        text/css css
        text/csv csv
        text/html html htm
        text/javascript js mjs
        text/markdown md markdown
        text/plain txt text log conf
        text/tab-separated-values tsv
        text/vcard vcf
        video/mp4 mp4 m4v
        video/mpeg mpeg mpg
        video/ogg ogv
        video/quicktime mov qt
        video/webm webm
        video/x-matroska mkv
        video/x-msvideo avi
        """)
}
