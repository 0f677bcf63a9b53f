import Dunlin
import DunlinImages
import DunlinTesting
import FoundationEssentials
import LedgerRows
import Mocking
import Testing

@Suite(.timeLimit(.minutes(10))) struct `The serializer of images` {
    private static func response(_ body: Bytes, type: String? = "image/png", status: HTTP.Status = 200)
        -> HTTP.WholeResponse
    {
        let fields: Fields = type.map { ["Content-Type": $0] } ?? [:]
        return HTTP.WholeResponse(head: ResponseHead(version: .http11, status: status, fields: fields), body: body)
    }

    private static let afnetworking = [
        "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp", "image/x-bmp",
        "image/x-xbitmap", "image/x-win-bitmap",
    ]

    @Test(
        .rows("RS-45"),
        arguments: [
            (afnetworking, true),
            (["image/webp", "image/jpg", "image/pjpeg", "image/x-png", "image/vnd.microsoft.icon"], true),
            (["IMAGE/PNG; charset=x", "image/PJPEG"], true),
            (["image/svg+xml", "image/avif", "image/heic", "application/octet-stream", "text/html", "image"], false),
        ])
    func `types of what can be decoded are accepted and others are not`(
        types: [String], isAccepted: Bool
    ) async throws {
        for type in types {
            let error = try await networkError {
                try ImageResponseSerializer().validate(Self.response("x", type: type))
            }
            #expect(error?.code == (isAccepted ? nil : .unacceptableContentType), "\(type)")
        }
    }

    @Test(.rows("RS-45")) func `AFNetworking's ten alone can be asked for, and more can be accepted`() throws {
        #expect(Set(HTTP.ContentTypes.afnetworkingImages.patterns) == Set(Self.afnetworking))
        let strict = ImageResponseSerializer(rules: .init(contentTypes: .afnetworkingImages))
        #expect(throws: NetworkError.self) { try strict.validate(Self.response("x", type: "image/webp")) }
        try strict.accepting("image/webp").validate(Self.response("x", type: "image/webp"))
        #expect(throws: NetworkError.self) { try strict.validate(Self.response("x", status: 404)) }
    }

    @Test(.rows("RS-46"), arguments: [1.0, 2, 3]) func `a picture has as many points as pixels for the scale`(
        scale: Double
    ) async throws {
        let image = try ImageResponseSerializer(scale: scale).serialize(Self.response(try await Pictures.png(6, 12)))
        #expect(image.pointSize.width == 6 / scale)
        #expect(image.pointSize.height == 12 / scale)
        #expect(image.picture?.scale == scale)
        #expect(try await image.decoded().scale == scale)
    }

    private static let jpeg = Task { try await ImageEncoder().jpeg(try Pictures.buffer(8, 8)) }

    @Test(.rows("RS-48")) func `images are decoded side by side, and each becomes its own picture`() async throws {
        var pictures: [(Bytes, ImageBuffer)] = []
        for number in UInt8(1)...8 {
            pictures.append(
                (try await Pictures.png(50, 40, number: number), try Pictures.buffer(50, 40, number: number)))
        }
        let serializer = ImageResponseSerializer()
        try await withThrowingTaskGroup(of: Bool.self) { [pictures] group in
            for (png, picture) in pictures + pictures + pictures {
                group.addTask { try serializer.serialize(Self.response(png)).picture == picture }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test(.rows("RS-47")) func `small PNG and JPEG are decoded at once, and only those`() async throws {
        let serializer = ImageResponseSerializer()
        let png = try await Pictures.png(5, 4, number: 9)
        let image = try serializer.serialize(Self.response(png))
        #expect(image.info.format == .png)
        #expect(image.picture == (try Pictures.buffer(5, 4, number: 9)))
        #expect(image.bytes == png)
        #expect(try serializer.serialize(Self.response(try await Self.jpeg.value)).picture?.size.width == 8)
        #expect(try serializer.serialize(Self.response(Pictures.animation)).picture == nil)
        let lazy = try ImageResponseSerializer(inflation: .lazy).serialize(Self.response(png))
        #expect(lazy.picture == nil)
        #expect(try await lazy.decoded() == image.picture)
        #expect(try await image.decoded() == image.picture)
    }

    @Test(.rows("RS-47"), arguments: [(1024, 1024, true), (1025, 1024, false), (1, 1_048_576, true)])
    func `pictures beyond the limits are decoded when somebody asks`(
        width: Int, height: Int, isEager: Bool
    ) async throws {
        let image = try ImageResponseSerializer().serialize(Self.response(try await Pictures.png(width, height)))
        #expect((image.picture != nil) == isEager)
        #expect(image.info.size == ImageSize(width: width, height: height))
    }

    @Test(.rows("RS-47")) func `the limits can be set`() async throws {
        var serializer = ImageResponseSerializer()
        serializer.inflationLimits.pixels = 11
        let png = try await Pictures.png(4, 3)
        #expect(try serializer.serialize(Self.response(png)).picture == nil)
        serializer.inflationLimits.pixels = 12
        #expect(try serializer.serialize(Self.response(png)).picture != nil)
        serializer.inflationLimits.bitsPerComponent = 7
        #expect(try serializer.serialize(Self.response(png)).picture == nil)
        serializer.limits.pixels = 11
        let error = #expect(throws: NetworkError.self) { try serializer.serialize(Self.response(png)) }
        #expect((error?.underlying as? ImageError)?.isLimit == true)
    }

    @Test(
        .rows("RS-49", "RS-51"),
        arguments: [
            ("no picture at all", "image/png"), ("\u{89}PNG\r\n\u{1A}\n", "image/png"), ("GIF89a", "image/gif"),
            ("<svg/>", "image/png"), ("BM", "image/bmp"),
        ])
    func `what is no picture is an error that says why`(text: String, type: String) throws {
        let body = Bytes(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        let error = #expect(throws: NetworkError.self) {
            try ImageResponseSerializer().serialize(Self.response(body, type: type))
        }
        #expect(error?.code == .imageDecodingFailed)
        #expect(error?.underlying is ImageError)
        #expect(error?.response?.status == 200)
    }

    @Test(.rows("RS-49")) func `a picture that is cut short is an error, whenever it is decoded`() async throws {
        let whole = try await ImageEncoder().png(try Pictures.buffer(64, 64))
        let cut = whole[0..<whole.count - 20]
        let error = #expect(throws: NetworkError.self) { try ImageResponseSerializer().serialize(Self.response(cut)) }
        #expect(error?.code == .imageDecodingFailed)
        let lazy = try ImageResponseSerializer(inflation: .lazy).serialize(Self.response(cut))
        await #expect(throws: ImageError.self) { try await lazy.decoded() }
    }

    @Test(
        .rows("RS-51"),
        arguments: [
            ("TIFF", [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 2, 0] + tag(256) + tag(257) + [0, 0, 0, 0] as [UInt8])
        ])
    func `a format that is known and cannot be decoded is refused by name`(name: String, bytes: [UInt8]) throws {
        let error = #expect(throws: NetworkError.self) {
            try ImageResponseSerializer().serialize(Self.response(Bytes(bytes), type: "image/tiff"))
        }
        #expect(error?.code == .imageDecodingFailed)
        let reason = error?.reason ?? ""
        #expect(reason.contains(name))
    }

    /// A width or height of 3, as TIFF has it.
    private static func tag(_ number: UInt16) -> [UInt8] {
        [UInt8(number & 255), UInt8(number >> 8), 3, 0, 1, 0, 0, 0, 3, 0, 0, 0]
    }

    @Test(.rows("RS-50"), arguments: [(200, "image/png"), (200, "image/jpeg"), (204, nil)] as [(HTTP.Status, String?)])
    func `an empty body is no content`(status: HTTP.Status, type: String?) async throws {
        let mocked = try Mocked()
        mocked.transport.on(.get, "/cat").respond(status, fields: type.map { ["Content-Type": $0] } ?? [:])
        let error = try await networkError { _ = try await mocked.session.get("cat", as: .image) }
        #expect(error?.code == .noContent && error?.response?.status == status)
    }

    @Test(.rows("CO-10")) func `scale, inflation and rules can be saved`() throws {
        var serializer = ImageResponseSerializer(scale: 2, inflation: .lazy).accepting("image/x-own")
        serializer.inflationLimits.pixels = 7
        let saved = try JSONEncoder().encode(serializer)
        #expect(try JSONDecoder().decode(ImageResponseSerializer.self, from: saved) == serializer)
    }

    @Test func `with sniffing the first bytes count, whatever the type says`() async throws {
        let serializer = ImageResponseSerializer().sniffing()
        let png = try await Pictures.png()
        for type in ["application/octet-stream", "text/plain", nil, "image/png"] {
            try serializer.validate(Self.response(png, type: type))
            #expect(try serializer.serialize(Self.response(png, type: type)).info.format == .png)
        }
        #expect(throws: NetworkError.self) { try serializer.serialize(Self.response("<html>", type: "text/html")) }
        #expect(throws: NetworkError.self) { try serializer.validate(Self.response(png, status: 500)) }
    }

    @Test func `a session makes a picture of a response, alone and as the first that fits`() async throws {
        let mocked = try Mocked()
        mocked.transport.on(.get, "/cat").respond(
            fields: ["Content-Type": "image/png"], body: try await Pictures.png(7, 5)
        ).always()
        let image = try await mocked.session.get("cat", as: .image).value
        #expect(image.info.displaySize == ImageSize(width: 7, height: 5))
        #expect(mocked.transport.requests.first?.fields["Accept"] == "image/*")
        let first = FirstMatchSerializer<Int>([
            StringSerializer().accepting("application/json").map { $0.count },
            ImageResponseSerializer().map { $0.info.size.width },
        ])
        #expect(try await mocked.session.get("cat", as: first).value == 7)
    }
}
