package import Dunlin
internal import DunlinSemantics

extension ResponseHead {
    /// The digest of the whole file that a response is of, or has a part of; nil if it is not told.
    package var digestOfWhole: ContentDigest? {
        let isWhole = status == .ok && fields["content-encoding"] == nil
        return DigestFields.representation(fields).strongest
            ?? (isWhole ? DigestFields.content(fields).strongest : nil)
    }
}
