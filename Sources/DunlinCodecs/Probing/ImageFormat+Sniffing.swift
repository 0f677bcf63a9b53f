public import DunlinTypes

extension ImageFormat {
    /// Creates the format from the first bytes, whatever they are labelled; nil if they match none of these.
    public init?(sniffing bytes: Bytes) {
        let head = Octets(bytes)
        if head.begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if head.begins([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if head.has("RIFF", at: 0), head.has("WEBP", at: 8) {
            self = .webp
        } else if head.has("GIF87a", at: 0) || head.has("GIF89a", at: 0) {
            self = .gif
        } else if head.has("BM", at: 0) {
            self = .bmp
        } else if head.begins([0, 0, 1, 0]) || head.begins([0, 0, 2, 0]) {
            self = .ico
        } else if head.has("II*\0", at: 0) || head.has("MM\0*", at: 0) {
            self = .tiff
        } else if let format = Self.ofBrands(head) {
            self = format
        } else {
            return nil
        }
    }

    /// Returns the format from the brands of an ISO media file, the main one first.
    private static func ofBrands(_ head: Octets) -> ImageFormat? {
        guard head.has("ftyp", at: 4), let length = head.big32(0), length >= 16 else { return nil }
        let end = min(Int(length), head.count, 256)
        for offset in [8] + Array(stride(from: 16, to: end, by: 4)) {
            if head.has("avif", at: offset) || head.has("avis", at: offset) { return .avif }
            for brand in ["heic", "heix", "heim", "heis", "hevc", "hevx"] where head.has(brand, at: offset) {
                return .heif
            }
        }
        return head.has("mif1", at: 8) || head.has("msf1", at: 8) ? .heif : nil
    }
}
