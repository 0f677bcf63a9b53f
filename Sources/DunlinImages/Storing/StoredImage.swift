internal import Dunlin
internal import DunlinSemantics

/// A picture, and what it was made of: for whom, from where, and for how long it may be shown. Nothing of that is shown
/// anywhere.
///
/// It follows RFC 9111 as the HTTP cache does, for each redirect and for the picture itself. One whose response says
/// nothing of its lifetime has no end: AFNetworking's cache shows every picture until it is purged.
public struct StoredImage: Sendable {
    public var image: ImageBuffer
    let answer: KeptAnswer

    /// Creates a picture that came from no response: it is for everybody, and has no end.
    public init(_ image: ImageBuffer) {
        self.init(image, of: KeptAnswer())
    }

    init(_ image: ImageBuffer, of answer: KeptAnswer) {
        (self.image, self.answer) = (image, answer)
    }

    /// About how many bytes it takes beside its pixels and the colour profile.
    public var byteCount: Int { answer.byteCount }
}

extension StoredImage: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(image.width)x\(image.height)" }
    public var customMirror: Mirror { Mirror(self, children: ["image": image], displayStyle: .struct) }
}

extension [StoredImage] {
    /// The number of pictures with one key that are kept.
    private static let most = 16

    /// Adds a picture, in place of the one that whoever is given this one would have been given before.
    public mutating func add(_ image: StoredImage) {
        removeAll { image.answer.supersedes($0.answer) }
        insert(image, at: 0)
        if count > Self.most { removeLast() }
    }
}

/// How often pictures were removed, by URL.
struct Removals {
    private static let most = 4096
    private var last: UInt64 = 0
    /// The last removal that counts for every URL.
    private var common: UInt64 = 0
    private var urls: [String: UInt64] = [:]

    func number(of url: String) -> UInt64 { urls[url] ?? common }

    mutating func remove(_ url: String) {
        last += 1
        urls[url] = last
        // What was forgotten counts as removed.
        if urls.count > Self.most { removeAll() }
    }

    mutating func removeAll() {
        last += 1
        (common, urls) = (last, [:])
    }
}
