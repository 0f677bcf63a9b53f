public import DunlinTypes

extension ImageInfo {
    /// Reads the header of a picture, decoding nothing and checking no limits. For a GIF and an animated WebP it goes
    /// through all blocks, as only that tells the number of frames.
    public init(of bytes: Bytes) throws(ImageError) {
        guard let format = ImageFormat(sniffing: bytes) else { throw .unknownFormat }
        self =
            switch format {
            case .png: try PNGProbe.info(bytes)
            case .jpeg: try JPEGProbe.info(bytes)
            case .webp: try WebPProbe.info(bytes)
            case .gif: try GIFProbe.info(bytes)
            case .bmp: try BMPProbe.info(bytes)
            case .ico: try ICOProbe.info(bytes)
            case .tiff: try TIFFProbe.info(bytes)
            case .avif, .heif: try BoxProbe.info(format, bytes)
            }
    }
}
